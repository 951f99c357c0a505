#include "runtime/control/poll_fd.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus {

int poll_timeout_ms(TimePoint deadline) {
  const Duration left = deadline - SteadyClock::instance().now();
  if (left <= Duration::zero()) return 0;
  const auto up = std::min(left, Duration(std::chrono::minutes(1))) + std::chrono::microseconds(999);
  return static_cast<int>(to_ms(up));
}

Result<bool> poll_fd(int fd, PollFor what, TimePoint deadline) {
  pollfd entry{};
  entry.fd = fd;
  if (what != PollFor::kWriting) entry.events |= POLLIN;
  if (what != PollFor::kReading) entry.events |= POLLOUT;
  while (true) {
    const int timeout_ms = poll_timeout_ms(deadline);
    const int ready = ::poll(&entry, 1, timeout_ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return internal_error("poll failed: {}", errno_message(errno));
    if (timeout_ms == 0) return false;
  }
}

}  // namespace isthmus
