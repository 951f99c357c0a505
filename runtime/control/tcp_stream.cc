#include "runtime/control/tcp_stream.h"

#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <cerrno>

namespace isthmus {
namespace {

constexpr int kReadsPerCall = 16;  // so that one busy peer does not starve the others of a thread

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

TcpStream::TcpStream(Fd socket, const SocketAddress& remote, bool connecting)
    : socket_(std::move(socket)), remote_(remote), connecting_(connecting) {
  const int on = 1;  // without it a heartbeat would wait for the acknowledgement of the one before
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

std::string TcpStream::description() const {
  const Result<SocketAddress> local = SocketAddress::local_of(socket_.get());
  return fmt::format("{} -> {}", local.ok() ? local->text() : "?", remote_.text());
}

Status TcpStream::fail(Status status) {
  if (failed_.ok()) failed_ = status.with_context(description());
  return failed_;
}

Result<bool> TcpStream::finish_connect() {
  pollfd entry{socket_.get(), POLLOUT, 0};
  if (::poll(&entry, 1, 0) <= 0) return false;
  int error = 0;
  socklen_t length = sizeof(error);
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return fail(unavailable("connecting failed: {}", errno_message(error)));
  connecting_ = false;
  return true;
}

Status TcpStream::write_some() {
  while (!framing_.outgoing().empty()) {
    const std::string_view bytes = framing_.outgoing();
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      framing_.sent(static_cast<std::size_t>(count));
    } else if (would_block(errno)) {
      return Status();
    } else if (errno != EINTR) {
      const int error = errno;
      read_some();  // what the peer sent before it closed is still to be delivered
      return fail(unavailable("the peer is gone: {}", errno_message(error)));
    }
  }
  return Status();
}

Status TcpStream::send(std::string_view message) {
  if (!failed_.ok()) return failed_;
  if (message.size() > kMaxControlMessageBytes) {
    return invalid_argument("a control message of {} bytes; at most {} are allowed", message.size(),
                            kMaxControlMessageBytes);
  }
  if (framing_.outgoing().size() + message.size() > kMaxQueuedControlBytes) {
    return fail(unavailable("the peer takes nothing; {} bytes are waiting for it", framing_.outgoing().size()));
  }
  framing_.append(message);
  return flush().status();
}

Result<bool> TcpStream::flush() {
  if (!failed_.ok()) return failed_;
  if (connecting_) {
    ISTHMUS_ASSIGN_OR_RETURN(const bool stands, finish_connect());
    if (!stands) return false;
  }
  ISTHMUS_RETURN_IF_ERROR(write_some());
  return framing_.outgoing().empty();
}

void TcpStream::read_some() {
  std::array<char, 16384> buffer;
  for (int i = 0; i < kReadsPerCall && ended_.ok(); ++i) {
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      framing_.received({buffer.data(), static_cast<std::size_t>(count)});
      if (static_cast<std::size_t>(count) < buffer.size()) return;
    } else if (count == 0) {
      ended_ = unavailable("{}: the peer closed the connection", description());
    } else if (would_block(errno)) {
      return;
    } else if (errno != EINTR) {
      ended_ = unavailable("{}: the connection broke: {}", description(), errno_message(errno));
    }
  }
}

Result<bool> TcpStream::receive(std::string* message) {
  if (connecting_) {
    ISTHMUS_ASSIGN_OR_RETURN(const bool stands, flush());
    if (!stands && connecting_) return false;
  }
  Result<bool> taken = framing_.next(message);
  if (taken.ok() && !*taken) {
    if (ended_.ok()) read_some();
    taken = framing_.next(message);
  }
  if (!taken.ok()) return fail(taken.status());
  if (*taken) return true;
  if (!ended_.ok()) return ended_;
  if (!failed_.ok()) return failed_;
  return false;
}

}  // namespace isthmus
