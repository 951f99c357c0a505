// measure: the iterations of one size, and what they took. Collective.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/bench/job.h"
#include "benchmarks/bench/options.h"

namespace isthmus::bench {

struct Measurement {
  CallSize call;
  // By iteration, warm-up excluded. The mean of the ranks, since back to back they may take turns in waiting for each
  // other: then each has long and short iterations, and the largest of all ranks would count every wait twice.
  std::vector<double> times_us;
  std::vector<double> slowest_us;  // the largest of all ranks
  std::uint64_t wrong = 0;         // elements, of all ranks
  std::uint64_t checked_iterations = 0;
  std::uint64_t wan_sent_bytes = 0;  // in frames, by all ranks, during the timed iterations
};

Result<Measurement> measure(Job& job, const BenchOptions& options, std::uint64_t size_bytes);

// The lanes of all ranks as they are now. Collective.
struct LaneSummary {
  int lanes = 0;           // of the link that has the most
  std::string congestion;  // read back from the lanes' sockets; several values are joined with +
};
Result<LaneSummary> summarize_lanes(Job& job);

}  // namespace isthmus::bench
