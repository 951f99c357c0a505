// Waiting in the kernel: for one descriptor until a deadline.
//
// Threads: any thread.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace isthmus {

enum class PollFor { kReading, kWriting, kReadingOrWriting };

// Whether the descriptor became ready (or failed, which the next call on it tells) before the deadline. Signals do not
// end the wait.
Result<bool> poll_fd(int fd, PollFor what, TimePoint deadline);

// The milliseconds from now to the deadline for poll and epoll_wait, rounded up and at most a minute: callers loop.
int poll_timeout_ms(TimePoint deadline);

}  // namespace isthmus
