// The loopback transport: lanes between Transport objects of one process that share a LoopbackFabric. For tests, and
// for worlds of threads; it needs no network and behaves as sockets do (bounded buffers, death of a peer).
//
// Threads: each transport as transport.h says; different transports of one fabric from different threads.
#pragma once

#include <memory>

#include "runtime/transport/loopback/listener.h"
#include "runtime/transport/transport.h"

namespace isthmus {

Result<std::unique_ptr<Transport>> make_loopback_transport(std::shared_ptr<LoopbackFabric> fabric);

}  // namespace isthmus
