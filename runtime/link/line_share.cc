#include "runtime/link/line_share.h"

#include <algorithm>

namespace isthmus {
namespace {

// The pace of a link that has been idle for longer is not there to be shared.
constexpr Duration kLately = std::chrono::milliseconds(300);
// What waits says less than it seems to, for later rounds of a schedule wait elsewhere still.
constexpr double kLeastWeight = 0.5, kMostWeight = 2;

}  // namespace

double LineShare::fairness(const Part& part, TimePoint now) const {
  double rate = 0, waiting = 0, busy = 0;
  for (const Part* each : parts_) {
    if (now - each->busy_at > kLately) continue;
    rate += each->bytes_per_sec;
    waiting += static_cast<double>(each->waiting_bytes);
    busy += each->waiting_bytes > 0 ? 1 : 0;
  }
  if (part.bytes_per_sec <= 0 || part.waiting_bytes == 0 || rate <= 0) return 1;
  const auto weight = [&](const Part& one) {
    return std::clamp(static_cast<double>(one.waiting_bytes) * busy / waiting, kLeastWeight, kMostWeight);
  };
  double weights = 0;
  for (const Part* each : parts_)
    if (each->waiting_bytes > 0) weights += weight(*each);
  return weight(part) / weights * rate / part.bytes_per_sec;
}

}  // namespace isthmus
