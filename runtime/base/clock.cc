#include "runtime/base/clock.h"

namespace isthmus {

const SteadyClock& SteadyClock::instance() {
  static const SteadyClock clock;
  return clock;
}

TimePoint deadline_after(TimePoint start, Duration by) {
  if (by < Duration::zero() || by > kNever - start) return kNever;
  return start + by;
}

}  // namespace isthmus
