// LogThrottle: warnings about what strangers do, one line a second at most: whoever reaches a port could fill the log.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"

namespace isthmus {

class LogThrottle {
 public:
  // The next line that is logged says how many were left out before it.
  template <typename... Args>
  void warn(TimePoint now, fmt::format_string<Args...> format, Args&&... args) {
    if (now < next_at_) {
      ++left_out_;
      return;
    }
    next_at_ = now + std::chrono::seconds(1);
    const std::uint64_t left_out = std::exchange(left_out_, 0);
    log_warning("{}{}", fmt::format(format, std::forward<Args>(args)...),
                left_out == 0 ? "" : fmt::format(" ({} more since the last such line)", left_out));
  }

 private:
  TimePoint next_at_ = TimePoint::min();
  std::uint64_t left_out_ = 0;
};

}  // namespace isthmus
