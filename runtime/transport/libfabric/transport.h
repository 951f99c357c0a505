// The libfabric transport: a lane is a message endpoint (FI_EP_MSG) of the provider "tcp", that is, a TCP connection.
// The greeting travels as connection data. Works with libfabric 1.17 and 2.1, which understand each other.
//
// Threads: as transport.h says.
#pragma once

#include <memory>

#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

// unsupported: no such provider here.
Result<std::unique_ptr<Transport>> make_libfabric_transport(const TransportOptions& options = {});

}  // namespace isthmus
