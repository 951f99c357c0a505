#include "benchmarks/bench/formulas.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace isthmus::bench {
namespace {

constexpr std::array<std::string_view, 12> kNames{"allreduce", "broadcast", "allgather", "reduce_scatter",
                                                  "reduce",    "gather",    "scatter",   "alltoall",
                                                  "sendrecv",  "pingpong",  "stream",    "barrier"};

}  // namespace

std::span<const std::string_view> case_names() { return kNames; }

std::string_view case_name(Case c) { return kNames[static_cast<std::size_t>(c)]; }

std::optional<Case> parse_case(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Case>(found - kNames.begin());
}

bool is_reduction(Case c) { return c == Case::kAllreduce || c == Case::kReduce || c == Case::kReduceScatter; }

bool is_blocked(Case c) {
  return c == Case::kAllGather || c == Case::kReduceScatter || c == Case::kGather || c == Case::kScatter ||
         c == Case::kAllToAll;
}

CallSize call_size(Case c, std::uint64_t size_bytes, DataType type, int ranks) {
  if (c == Case::kBarrier) return {};
  const std::uint64_t element_bytes = dtype_size_bytes(type);
  const std::uint64_t blocks = is_blocked(c) ? static_cast<std::uint64_t>(ranks) : 1;
  const std::uint64_t count = std::max<std::uint64_t>(1, size_bytes / (element_bytes * blocks));
  return {static_cast<std::size_t>(count), count * element_bytes * blocks};
}

double bus_factor(Case c, int participants) {
  const double n = participants;
  switch (c) {
    case Case::kAllreduce: return 2 * (n - 1) / n;
    case Case::kAllGather:
    case Case::kReduceScatter:
    case Case::kGather:
    case Case::kScatter:
    case Case::kAllToAll: return (n - 1) / n;
    case Case::kReduce:
    case Case::kBroadcast:
    case Case::kSendRecv:
    case Case::kPingPong:
    case Case::kStream: return n > 1 ? 1 : 0;
    case Case::kBarrier: return 0;
  }
  return 0;
}

double percentile(std::vector<double> times, double percent) {
  std::sort(times.begin(), times.end());
  const auto position = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(times.size())));
  return times[std::clamp<std::size_t>(position, 1, times.size()) - 1];
}

Bandwidth bandwidth(Case c, std::uint64_t size_bytes, int together, double time_us, int ranks, int sites) {
  if (time_us <= 0) return {};
  const double ways = c == Case::kPingPong ? 2 : 1;
  const double bytes = c == Case::kBarrier ? 0 : static_cast<double>(size_bytes) * together * ways;
  const double algorithm = bytes / (time_us * 1e-6);
  // Every rank of a site sends its own blocks over the line.
  const double on_a_line = c == Case::kAllToAll ? static_cast<double>(ranks) / sites : 1;
  return {algorithm, algorithm * bus_factor(c, ranks), algorithm * bus_factor(c, sites) * on_a_line};
}

}  // namespace isthmus::bench
