// A c10d::Store as a store of the C API, so that a group finds its members through whatever torch was given (torchrun's
// TCPStore, a file, a store written in Python).
//
// Threads: one thread at a time; only while a communicator is created.
#pragma once

#include <isthmus/isthmus.h>

#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace isthmus::torch_binding {

struct StoreDestroy {
  void operator()(isthmus_store* store) const { isthmus_store_destroy(store); }
};
using StoreHandle = std::unique_ptr<isthmus_store, StoreDestroy>;

// Works on a clone of `store`, so that other users of it are not held up; on `store` itself where its class cannot be
// cloned. The caller must not hold the GIL: a store written in Python takes it.
StoreHandle adapt_store(const c10::intrusive_ptr<c10d::Store>& store);

}  // namespace isthmus::torch_binding
