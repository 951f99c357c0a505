#include "runtime/transport/ucx/reserved_port.h"

#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace isthmus {
namespace {

// A name in the namespace of abstract Unix sockets: it goes when its descriptor does, even if the process is killed.
Fd mark_port(std::uint16_t port) {
  const std::string name = fmt::format("isthmus ucx port {}", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Fd mark(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::bind(mark.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) mark.reset();
  return mark;
}

// 0, or why not. Without SO_REUSEADDR, as UCX will bind it.
int try_port(const SocketAddress& address) {
  const Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(socket.get(), address.native(), address.native_length()) == 0 ? 0 : errno;
}

}  // namespace

Result<ReservedPort> ReservedPort::find(const SocketAddress& host, std::uint16_t low, std::uint16_t high) {
  for (unsigned port = high; port >= low && port != 0; --port) {
    ISTHMUS_ASSIGN_OR_RETURN(const auto address,
                             SocketAddress::from_host(host.host(), static_cast<std::uint16_t>(port)));
    Fd mark = mark_port(address.port());
    if (!mark.valid()) continue;
    const int error = try_port(address);
    if (error == 0) return ReservedPort(std::move(mark), address.port());
    if (error != EADDRINUSE && error != EACCES) {
      return unavailable("cannot listen at {}: {}", address.text(), errno_message(error));
    }
  }
  return unavailable("no free port for the data listener in the range {}-{} of {}", low, high, host.host());
}

}  // namespace isthmus
