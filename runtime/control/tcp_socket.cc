#include "runtime/control/tcp_socket.h"

#include <sys/socket.h>

#include <cerrno>

namespace isthmus {
namespace {

// Enough for every process of a large job to dial at the same moment; the kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 4096;

Result<Fd> make_socket(int family) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return unavailable("cannot make a socket: {}", errno_message(errno));
  return socket;
}

// A listening socket, or an invalid one when the port is taken.
Result<Fd> try_listen(const SocketAddress& address) {
  ISTHMUS_ASSIGN_OR_RETURN(Fd socket, make_socket(address.family()));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));  // a restarted process takes its port again
  if (address.family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(socket.get(), address.native(), address.native_length()) == 0 && ::listen(socket.get(), kBacklog) == 0) {
    return socket;
  }
  if (errno == EADDRINUSE || errno == EACCES) return Fd();
  return unavailable("cannot listen on {}: {}", address.text(), errno_message(errno));
}

// The others are of the one connection that went away while it waited: the next one may be well.
bool is_final(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM || error == EBADF ||
         error == EINVAL || error == ENOTSOCK;
}

}  // namespace

Result<BoundSocket> listen_tcp(const std::string& host, const std::string& advertised_host, std::uint16_t port_low,
                               std::uint16_t port_high) {
  for (unsigned port = port_low; port <= port_high; ++port) {
    ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress address, SocketAddress::from_host(host, static_cast<uint16_t>(port)));
    ISTHMUS_ASSIGN_OR_RETURN(Fd socket, try_listen(address));
    if (!socket.valid()) continue;
    ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress bound, SocketAddress::local_of(socket.get()));
    return BoundSocket{std::move(socket),
                       join_host_port(advertised_host.empty() ? host : advertised_host, bound.port())};
  }
  return unavailable("no port of {}-{} can be had on {}: every process of a host needs two (control and data)",
                     port_low, port_high, host);
}

Result<std::unique_ptr<SocketChannel>> accept_tcp(int listener, const std::string& address) {
  while (true) {
    sockaddr_storage remote{};
    socklen_t length = sizeof(remote);
    auto* native = reinterpret_cast<sockaddr*>(&remote);
    Fd accepted(::accept4(listener, native, &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted.valid()) {
      return std::make_unique<SocketChannel>(std::move(accepted), SocketAddress::from_native(native, length), false);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::unique_ptr<SocketChannel>();
    if (is_final(errno)) return unavailable("{}: cannot accept: {}", address, errno_message(errno));
  }
}

Result<std::unique_ptr<SocketChannel>> dial_tcp(const std::string& address) {
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress remote, SocketAddress::parse(address));
  ISTHMUS_ASSIGN_OR_RETURN(Fd socket, make_socket(remote.family()));
  const int result = ::connect(socket.get(), remote.native(), remote.native_length());
  // An interrupted connect() goes on in the kernel, as one that is in progress does.
  if (result != 0 && errno != EINPROGRESS && errno != EINTR) {
    if (errno == ECONNREFUSED) return unavailable("cannot connect to {}: {}", address, errno_message(errno));
    return deadline_exceeded("cannot connect to {}: {}", address, errno_message(errno));
  }
  return std::make_unique<SocketChannel>(std::move(socket), remote, result != 0);
}

}  // namespace isthmus
