#include "runtime/control/control_stream.h"

#include "runtime/control/poll_fd.h"

namespace isthmus {
namespace {

Status flush_until(ControlStream& stream, TimePoint deadline) {
  const TimePoint start = SteadyClock::instance().now();
  while (true) {
    ISTHMUS_ASSIGN_OR_RETURN(const bool done, stream.flush());
    if (done) return Status();
    const PollFor what = stream.wants_write() ? PollFor::kWriting : PollFor::kReading;
    ISTHMUS_ASSIGN_OR_RETURN(const bool ready, poll_fd(stream.fd(), what, deadline));
    if (!ready) {
      return deadline_exceeded("{}: the peer took no bytes for {:.1f} s", stream.description(),
                               to_seconds(SteadyClock::instance().now() - start));
    }
  }
}

}  // namespace

Result<std::unique_ptr<ControlStream>> ControlNetwork::connect(const std::string& address, TimePoint deadline) {
  const TimePoint start = SteadyClock::instance().now();
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ControlStream> stream, dial(address));
  const Status status = flush_until(*stream, deadline);
  if (status.code() == StatusCode::kDeadlineExceeded) {
    return deadline_exceeded("no answer from {} in {:.1f} s: {}", address,
                             to_seconds(SteadyClock::instance().now() - start), status.message());
  }
  if (!status.ok()) return status;
  return stream;
}

Status send_message(ControlStream& stream, std::string_view message, TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(stream.send(message));
  return flush_until(stream, deadline);
}

Result<std::string> receive_message(ControlStream& stream, TimePoint deadline) {
  const TimePoint start = SteadyClock::instance().now();
  std::string message;
  while (true) {
    const Result<bool> flushed = stream.flush();
    ISTHMUS_ASSIGN_OR_RETURN(const bool received, stream.receive(&message));  // what came before a failure counts
    if (received) return message;
    if (!flushed.ok()) return flushed.status();
    const PollFor what = *flushed || !stream.wants_write() ? PollFor::kReading : PollFor::kReadingOrWriting;
    ISTHMUS_ASSIGN_OR_RETURN(const bool ready, poll_fd(stream.fd(), what, deadline));
    if (!ready) {
      return deadline_exceeded("{}: no message in {:.1f} s", stream.description(),
                               to_seconds(SteadyClock::instance().now() - start));
    }
  }
}

}  // namespace isthmus
