// The cases of the benchmark, and the arithmetic from times to bandwidths. benchmarks/METRICS.md says why.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"

namespace isthmus::bench {

enum class Case {
  kAllreduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSendRecv,
  kPingPong,
  kStream,
  kBarrier
};

std::span<const std::string_view> case_names();  // in the order of Case
std::string_view case_name(Case c);
std::optional<Case> parse_case(std::string_view name);
bool is_reduction(Case c);  // allreduce, reduce, reduce_scatter: the operator counts
bool is_blocked(Case c);    // the larger buffer is one equal block per rank

// What one call of the case is given and moves.
struct CallSize {
  std::size_t count = 0;         // elements, as passed to the call
  std::uint64_t size_bytes = 0;  // of the larger of its two buffers
};

// The largest call that is not larger than `size_bytes`, of at least one element (per block).
CallSize call_size(Case c, std::uint64_t size_bytes, DataType type, int ranks);

// Bytes over a line per byte of size, for n participants: 2(n-1)/n for allreduce. 0: the case moves no payload.
double bus_factor(Case c, int participants);

// Nearest rank: the smallest time that `percent` of all times do not exceed. `times` is not empty.
double percentile(std::vector<double> times, double percent);

struct Bandwidth {
  double algorithm_bytes_per_sec = 0;
  double bus_bytes_per_sec = 0;   // x bus_factor(ranks)
  double line_bytes_per_sec = 0;  // x bus_factor(sites), an all-to-all also x the ranks of a site: what one site's line
                                  // carries each way; 0 with one site
};

// `together` calls of `size_bytes` took `time_us`. A ping-pong's time is two ways.
Bandwidth bandwidth(Case c, std::uint64_t size_bytes, int together, double time_us, int ranks, int sites);

}  // namespace isthmus::bench
