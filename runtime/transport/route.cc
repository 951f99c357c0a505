#include "runtime/transport/route.h"

#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus {

Result<SocketAddress> local_address_towards(const SocketAddress& remote) {
  const Fd socket(::socket(remote.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return unavailable("cannot make a socket: {}", errno_message(errno));
  if (::connect(socket.get(), remote.native(), remote.native_length()) != 0) {
    return unavailable("no route to {}: {}", remote.host(), errno_message(errno));
  }
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress local, SocketAddress::local_of(socket.get()));
  return SocketAddress::from_host(local.host(), 0);
}

}  // namespace isthmus
