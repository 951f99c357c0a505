#include "collectives/plan/lower_bound.h"

#include <algorithm>

namespace isthmus {

double allreduce_lower_bound(const Network& network, std::int64_t bytes) {
  if (network.site_count() < 2) return 0;
  const auto size = static_cast<double>(bytes);
  double up = 0, down = 0, bound = 0;
  for (const SiteLine& line : network.sites) {
    up += static_cast<double>(line.up_bytes_per_sec);
    down += static_cast<double>(line.down_bytes_per_sec);
    bound = std::max(bound, size / static_cast<double>(std::min(line.up_bytes_per_sec, line.down_bytes_per_sec)));
  }
  return std::max(bound, 2.0 * (network.site_count() - 1) * size / std::min(up, down));
}

}  // namespace isthmus
