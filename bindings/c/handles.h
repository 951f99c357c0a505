// What the opaque handles of the C API hold, and how a Status leaves the library.
//
// Threads: as the C header says for each handle.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "bindings/c/include/isthmus/isthmus.h"
#include "collectives/communicator.h"
#include "runtime/bootstrap/rendezvous_server.h"
#include "runtime/bootstrap/store.h"
#include "runtime/config/options.h"
#include "runtime/engine/runtime.h"

struct isthmus_options {
  isthmus::Options values;
  std::string last_text;  // what isthmus_options_get returned
};

struct isthmus_store {
  std::shared_ptr<isthmus::ControlNetwork> network;  // of a client of a rendezvous server, and outlives it
  std::unique_ptr<isthmus::Store> store;
};

struct isthmus_rendezvous_server {
  std::shared_ptr<isthmus::ControlNetwork> network;
  std::unique_ptr<isthmus::RendezvousServer> server;
  std::string address;
};

struct isthmus_runtime {
  std::unique_ptr<isthmus::Runtime> runtime;
};

struct isthmus_communicator {
  std::unique_ptr<isthmus::Communicator> communicator;
};

struct isthmus_work {
  std::shared_ptr<isthmus::Work> work;
};

namespace isthmus::c_api {

// Keeps the message for isthmus_last_error() and returns the category.
isthmus_status report(const Status& status);

// Runs `body`, which returns a Status; an exception (no memory, no thread) becomes internal.
template <typename Body>
isthmus_status guard(Body&& body) {
  try {
    return report(body());
  } catch (const std::exception& error) {
    return report(internal_error("unexpected: {}", error.what()));
  }
}

// Copies a size-tagged struct of the caller into one of ours: fields that the caller does not know are zero; fields
// that we do not know must be zero.
template <typename T>
Result<T> read_struct(const T* from, const char* name) {
  T to{};
  to.struct_size = sizeof(T);
  if (from == nullptr) return to;
  const std::size_t size = from->struct_size;
  if (size < sizeof(std::size_t) || size > 64 * sizeof(T))
    return invalid_argument("{}: struct_size is {}; set it with ISTHMUS_INIT", name, size);
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0) return unsupported("{}: byte {} is set, this library knows {}", name, i, sizeof(T));
  std::memcpy(&to, from, std::min(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return to;
}

}  // namespace isthmus::c_api
