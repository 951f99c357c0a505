// From what the sites measured of each other to a network.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/plan/network.h"

namespace isthmus {

// What one site saw of another, while all sites sent to all others at the same time.
struct PathSample {
  std::int64_t round_trip_us = 0;           // 0: not measured
  std::int64_t received_bytes_per_sec = 0;  // payload, from there to here; 0: not measured
  std::int64_t lost_ppm = 0;                // of what was sent there
};

// `samples` by here * sites + there. A line's rate up is what all others together received from it, and its rate down
// what it received from all others together: no less than that can be relied on, and what more the line may have was
// not what limited an exchange among all sites. Nothing measured: the rate and the round trip are those of `assumed`.
// Payload was measured, so payload gets all of these rates.
Network measured_network(const std::vector<std::string>& site_names, const std::vector<int>& rank_counts,
                         const std::vector<PathSample>& samples, const SiteLine& assumed_line,
                         const SitePath& assumed_path);

}  // namespace isthmus
