#include "runtime/control/framed_stream.h"

#include <array>

namespace isthmus {
namespace {

constexpr int kReadsPerCall = 16;  // so that one busy peer does not starve the others of a thread

}  // namespace

Status FramedStream::fail(const Status& status) {
  if (failed_.ok()) failed_ = status.with_context(description());
  return failed_;
}

Status FramedStream::write_some() {
  while (!framing_.outgoing().empty()) {
    const Result<std::size_t> count = channel_->write(framing_.outgoing());
    if (!count.ok()) {
      read_some();  // what the peer sent before it closed is still to be delivered
      return fail(count.status());
    }
    if (*count == 0) return Status();
    framing_.sent(*count);
  }
  return Status();
}

Status FramedStream::send(std::string_view message) {
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

Result<bool> FramedStream::flush() {
  if (!failed_.ok()) return failed_;
  if (!stands_) {
    const Result<bool> stands = channel_->stand();
    if (!stands.ok()) return fail(stands.status());
    if (!*stands) return false;
    stands_ = true;
  }
  ISTHMUS_RETURN_IF_ERROR(write_some());
  return framing_.outgoing().empty();
}

void FramedStream::read_some() {
  std::array<char, 16384> buffer;
  for (int i = 0; i < kReadsPerCall && ended_.ok(); ++i) {
    const Result<std::size_t> count = channel_->read(buffer.data(), buffer.size());
    if (!count.ok()) {
      ended_ = count.status().with_context(description());
      return;
    }
    if (*count == 0) return;
    framing_.received({buffer.data(), *count});
    if (*count < buffer.size()) return;
  }
}

Result<bool> FramedStream::receive(std::string* message) {
  if (!stands_) {
    ISTHMUS_RETURN_IF_ERROR(flush().status());
    if (!stands_) return false;
  }
  Result<bool> taken = framing_.next(message);
  if (taken.ok() && !*taken) {
    if (ended_.ok()) read_some();
    taken = framing_.next(message);
  }
  if (!taken.ok()) {
    const Status failed = fail(taken.status());
    (void)write_some();  // so that a peer that expected something else learns with whom it speaks
    return failed;
  }
  if (*taken) return true;
  if (!ended_.ok()) return ended_;
  if (!failed_.ok()) return failed_;
  return false;
}

}  // namespace isthmus
