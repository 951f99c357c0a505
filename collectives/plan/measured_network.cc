#include "collectives/plan/measured_network.h"

#include <algorithm>

namespace isthmus {
namespace {

std::int64_t rate_or(std::int64_t measured, std::int64_t assumed) {
  return measured > 0 ? std::min(measured, kMaxPlannedRate) : assumed;
}

}  // namespace

Network measured_network(const std::vector<std::string>& site_names, const std::vector<int>& rank_counts,
                         const std::vector<PathSample>& samples, const SiteLine& assumed_line,
                         const SitePath& assumed_path) {
  const std::size_t count = site_names.size();
  const auto sample = [&](std::size_t here, std::size_t there) { return samples[here * count + there]; };
  Network network;
  for (std::size_t site = 0; site < count; ++site) {
    std::int64_t up = 0, down = 0;
    for (std::size_t other = 0; other < count; ++other) {
      if (other == site) continue;
      up += sample(other, site).received_bytes_per_sec;
      down += sample(site, other).received_bytes_per_sec;
    }
    network.sites.push_back({site_names[site], rank_counts[site], rate_or(up, assumed_line.up_bytes_per_sec),
                             rate_or(down, assumed_line.down_bytes_per_sec)});
  }
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      SitePath path = assumed_path;
      const std::int64_t there = sample(from, to).round_trip_us, back = sample(to, from).round_trip_us;
      if (there > 0 || back > 0)
        path.delay_us = (there > 0 && back > 0 ? std::min(there, back) : std::max(there, back)) / 2;
      path.loss_ppm = std::clamp<std::int64_t>(sample(from, to).lost_ppm, 0, 999'999);
      network.paths.push_back(path);
    }
  }
  return network;
}

}  // namespace isthmus
