// The local end of a route: which address this host has towards another.
//
// Threads: any thread.
#pragma once

#include <string>

#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"

namespace isthmus {

// The local address from which this host reaches `remote`, with port 0. Nothing is sent.
Result<SocketAddress> local_address_towards(const SocketAddress& remote);

}  // namespace isthmus
