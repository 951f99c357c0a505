// The UCX transport: a lane is an endpoint of UCX over TCP, that is, a TCP connection. Works with UCX 1.13 and 1.18,
// which understand each other. hello.h has the messages that open a lane, lane.h what bounds a receiver's memory.
//
// Threads: as transport.h says.
//
// Unlike libfabric's: the listener is at the first address of its interface, peers dial that and nothing else (no NAT),
// and UCX parses what strangers send to its port before we see it.
#pragma once

#include <memory>

#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

// unavailable: UCX is not there.
Result<std::unique_ptr<Transport>> make_ucx_transport(const TransportOptions& options = {});

}  // namespace isthmus
