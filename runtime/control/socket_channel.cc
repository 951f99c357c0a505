#include "runtime/control/socket_channel.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace isthmus {
namespace {

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Whether somebody said no, or nobody said anything.
Status connect_error(int error) {
  if (error == ECONNREFUSED || error == ECONNRESET) return unavailable("connecting failed: {}", errno_message(error));
  return deadline_exceeded("connecting failed: {}", errno_message(error));
}

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof(value)); }

void set_up(int fd) {
  constexpr int kSilenceMs = static_cast<int>(std::chrono::milliseconds(SocketChannel::kSilenceLimit).count());
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);  // else a heartbeat waits for the acknowledgement of the one before
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilenceMs);
}

}  // namespace

SocketChannel::SocketChannel(Fd socket, const SocketAddress& remote, bool connecting)
    : socket_(std::move(socket)), remote_(remote), connecting_(connecting), wants_write_(connecting) {
  set_up(socket_.get());
}

std::string SocketChannel::description() const {
  const Result<SocketAddress> local = SocketAddress::local_of(socket_.get());
  return fmt::format("{} -> {}", local.ok() ? local->text() : "?", remote_.text());
}

Result<bool> SocketChannel::stand() {
  if (!connecting_) return true;
  pollfd entry{socket_.get(), POLLOUT, 0};
  if (::poll(&entry, 1, 0) <= 0) return false;
  int error = 0;
  socklen_t length = sizeof(error);
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return connect_error(error);
  connecting_ = wants_write_ = false;
  return true;
}

Result<std::size_t> SocketChannel::write(std::string_view bytes) {
  while (true) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    wants_write_ = count < 0 && would_block(errno);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (wants_write_) return std::size_t{0};
    if (errno != EINTR) return unavailable("the peer is gone: {}", errno_message(errno));
  }
}

Result<std::size_t> SocketChannel::read(char* to, std::size_t size) {
  while (true) {
    const ssize_t count = ::recv(socket_.get(), to, size, 0);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0) return unavailable("the peer closed the connection");
    if (would_block(errno)) return std::size_t{0};
    if (errno != EINTR) return unavailable("the connection broke: {}", errno_message(errno));
  }
}

Result<Key> SocketChannel::export_secret(std::string_view, std::string_view) {
  return unsupported("{}: a plain connection has no secret", description());
}

void SocketChannel::end_writing() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace isthmus
