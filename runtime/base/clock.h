// Time as a seam: production code reads the steady clock, tests turn a manual one.
//
// Threads: SteadyClock and ManualClock, any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace isthmus {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr TimePoint kNever = TimePoint::max();

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  static const SteadyClock& instance();
};

// Stands still until it is told to move.
class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(now_ns_.load(std::memory_order_acquire))); }
  void advance(Duration by) { now_ns_.fetch_add(by.count(), std::memory_order_acq_rel); }

 private:
  std::atomic<std::int64_t> now_ns_{1'000'000'000};
};

inline double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline std::int64_t to_ms(Duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); }

// `start + by` without overflow; a negative or huge `by` means never.
// So many milliseconds, a century at most: what a caller means by "for ever" must not wrap.
inline Duration duration_of_ms(std::int64_t ms) {
  constexpr std::int64_t kCentury = std::int64_t{100} * 365 * 24 * 3600 * 1000;
  return std::chrono::milliseconds(std::clamp(ms, -kCentury, kCentury));
}

TimePoint deadline_after(TimePoint start, Duration by);

}  // namespace isthmus
