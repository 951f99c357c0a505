// TCP sockets as control networks need them: non-blocking and close-on-exec.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/control/socket_channel.h"

namespace isthmus {

struct BoundSocket {
  Fd socket;
  std::string address;  // as peers dial it
};

// Listens on the first free port of the range. unavailable: the address is not of this host, or no port is free.
Result<BoundSocket> listen_tcp(const std::string& host, const std::string& advertised_host, std::uint16_t port_low,
                               std::uint16_t port_high);

// The next connection, or nullptr when none waits. unavailable: no descriptor is left, or the socket is of no use.
Result<std::unique_ptr<SocketChannel>> accept_tcp(int listener, const std::string& address);

// Begins to connect.
Result<std::unique_ptr<SocketChannel>> dial_tcp(const std::string& address);

}  // namespace isthmus
