// Makes the communicators of process groups: from a store, and out of another communicator.
//
// Threads: any thread, without the GIL. Both block until every member has called, at most for the connect timeout.
#pragma once

#include <isthmus/isthmus.h>

#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "bindings/torch/communicator.h"
#include "bindings/torch/options.h"

namespace isthmus::torch_binding {

// Collective over the `size` processes that share `store`.
std::shared_ptr<Communicator> connect(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                      const GroupOptions& options);

// Collective over `parent`; as isthmus_communicator_split. Null for a negative color.
std::shared_ptr<Communicator> split(Communicator& parent, int color, int key, const GroupOptions& options);

}  // namespace isthmus::torch_binding
