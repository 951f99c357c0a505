#include "collectives/plan/planner.h"

#include <algorithm>

#include "collectives/plan/lower_bound.h"
#include "collectives/plan/owner_shares.h"
#include "collectives/plan/site_order.h"
#include "collectives/schedule/double_tree.h"

namespace isthmus {
namespace {

constexpr double kMessageSeconds = 20e-6;     // of a processor, to send one and to receive one
constexpr double kMessageHeaderBytes = 200;   // on the wire: frame, seal, its part of an acknowledgement
constexpr double kReduceBytesPerSec = 4e9;    // of operands
constexpr double kClearlyBetter = 0.98;       // of another plan's time
constexpr double kWorthUnequalShares = 0.98;  // of the transfer with equal ones
constexpr std::size_t kLeastChunkBytes = 64 * 1024;
constexpr double kLaneBytesInFlight = 2 * 1024 * 1024;  // half of what Linux gives a connection by itself
constexpr double kMillion = 1e6;
constexpr int kMostLanes = 63;

// Site order first, then the fewest trips.
constexpr AllreduceAlgorithm kPreference[] = {AllreduceAlgorithm::kExchange, AllreduceAlgorithm::kDirect,
                                              AllreduceAlgorithm::kTree, AllreduceAlgorithm::kRing};

double busiest_transfer(const Network& network, const std::vector<SiteLoad>& loads) {
  double longest = 0;
  for (std::size_t site = 0; site < loads.size(); ++site) {
    longest = std::max({longest, loads[site].up / static_cast<double>(network.sites[site].up_bytes_per_sec),
                        loads[site].down / static_cast<double>(network.sites[site].down_bytes_per_sec)});
  }
  return longest;
}

// Chunks that a block is cut in on average; a block of less than one element is none.
double blocks_of(AllreduceAlgorithm algorithm, int sites) {
  if (algorithm == AllreduceAlgorithm::kExchange) return 1;
  return algorithm == AllreduceAlgorithm::kTree ? kTreeCount : sites;
}

}  // namespace

Planner::Planner(Network network) : network_(std::move(network)), order_(neighbour_order(network_)) {
  const std::vector<std::uint32_t> shares = owner_shares(network_);
  const double unequal = busiest_transfer(network_, site_loads({AllreduceAlgorithm::kDirect, shares, {}}));
  const double equal = busiest_transfer(network_, site_loads(layout_of(AllreduceAlgorithm::kDirect, true)));
  if (unequal < kWorthUnequalShares * equal) weights_ = shares;
  for (int i = 0; i < kAllreduceAlgorithmCount; ++i) {
    const AllreduceLayout layout = layout_of(static_cast<AllreduceAlgorithm>(i), false);
    fixed_.push_back({longest_way_us(network_, layout), lanes_for(layout), narrowest_path(layout)});
  }
}

// A ring sends every block through every line, whoever owns it: equal blocks.
AllreduceLayout Planner::layout_of(AllreduceAlgorithm algorithm, bool equal_shares) const {
  AllreduceLayout layout;
  layout.algorithm = algorithm;
  layout.owner_weights.assign(network_.sites.size(), 1);
  if (algorithm == AllreduceAlgorithm::kDirect && !equal_shares && !weights_.empty()) layout.owner_weights = weights_;
  layout.site_order = order_;
  return layout;
}

AllreducePlan Planner::plan(const PlanRequest& request) const {
  if (request.algorithm) return best_chunk(*request.algorithm, request);
  std::optional<AllreducePlan> best;
  for (const AllreduceAlgorithm algorithm : kPreference) {
    if (request.site_order_only && !is_in_site_order(algorithm)) continue;
    AllreducePlan plan = best_chunk(algorithm, request);
    if (!best || plan.estimate.time() < kClearlyBetter * best->estimate.time()) best = std::move(plan);
  }
  return *std::move(best);
}

std::vector<AllreducePlan> Planner::candidates(const PlanRequest& request) const {
  std::vector<AllreducePlan> plans;
  for (int i = 0; i < kAllreduceAlgorithmCount; ++i)
    plans.push_back(best_chunk(static_cast<AllreduceAlgorithm>(i), request));
  return plans;
}

// The largest chunk is tried first: fewer messages where it costs nothing.
AllreducePlan Planner::best_chunk(AllreduceAlgorithm algorithm, const PlanRequest& request) const {
  AllreducePlan best;
  best.layout = layout_of(algorithm, request.equal_shares);
  best.lanes = fixed_[static_cast<std::size_t>(algorithm)].lanes;
  for (std::size_t chunk = request.max_chunk_bytes;; chunk /= 2) {
    const PlanEstimate estimate = this->estimate(best.layout, request, chunk);
    if (chunk == request.max_chunk_bytes || estimate.time() < kClearlyBetter * best.estimate.time()) {
      best.chunk_bytes = chunk;
      best.estimate = estimate;
    }
    if (chunk / 2 < kLeastChunkBytes) return best;
  }
}

PlanEstimate Planner::estimate(const AllreduceLayout& layout, const PlanRequest& request,
                               std::size_t chunk_bytes) const {
  PlanEstimate estimate;
  estimate.lower_bound = allreduce_lower_bound(network_, static_cast<std::int64_t>(request.bytes));
  const int sites = network_.site_count();
  if (sites < 2 || request.bytes == 0) return estimate;
  const auto size = static_cast<double>(request.bytes);
  const double blocks = blocks_of(layout.algorithm, sites);
  // A block of less than an element is none: at most as many messages as elements.
  const double block_bytes = std::max(size / blocks, static_cast<double>(dtype_size_bytes(request.type)));
  const double used_blocks = size / block_bytes;
  const double chunks = std::max(1.0, block_bytes / static_cast<double>(chunk_bytes)) * used_blocks / blocks;
  const double messages = messages_per_site(layout.algorithm, sites, chunks);
  const double payload = static_cast<double>(network_.payload_ppm) / kMillion;
  const double wide = is_half(request.type) ? 1 : 0;

  const std::vector<SiteLoad> loads = site_loads(layout);
  double slowest_rate = static_cast<double>(kMaxPlannedRate);
  for (std::size_t site = 0; site < loads.size(); ++site) {
    const SiteLine& line = network_.sites[site];
    const double up = size * (loads[site].up + wide * loads[site].wide_up) + messages * kMessageHeaderBytes;
    const double down = size * (loads[site].down + wide * loads[site].wide_down) + messages * kMessageHeaderBytes;
    const double up_seconds = up / (static_cast<double>(line.up_bytes_per_sec) * payload);
    const double down_seconds = down / (static_cast<double>(line.down_bytes_per_sec) * payload);
    slowest_rate =
        std::min(slowest_rate, static_cast<double>(std::min(line.up_bytes_per_sec, line.down_bytes_per_sec)));
    const double seconds = std::max(up_seconds, down_seconds);
    if (seconds <= estimate.transfer) continue;
    estimate.transfer = seconds;
    estimate.busiest_site = static_cast<int>(site);
    estimate.busiest_bytes = up_seconds >= down_seconds ? up : down;
  }
  int least_ranks = network_.sites[0].rank_count;
  for (const SiteLine& line : network_.sites) least_ranks = std::min(least_ranks, line.rank_count);
  estimate.processor =
      2 * messages / least_ranks * kMessageSeconds + sites * size / least_ranks / blocks / kReduceBytesPerSec;
  const Fixed& fixed = fixed_[static_cast<std::size_t>(layout.algorithm)];
  estimate.way = static_cast<double>(fixed.way_us) / kMillion;
  estimate.transfer = std::max(estimate.transfer, size * (1 + wide / 2) * fixed.path_seconds_per_byte / payload);
  const double chunk_seconds = std::min(block_bytes, static_cast<double>(chunk_bytes)) / (slowest_rate * payload);
  if (layout.algorithm == AllreduceAlgorithm::kTree) {
    // Every level waits for a chunk from the one below or above; nothing else goes on meanwhile.
    estimate.pipeline = (2.0 * tree_depth(sites) - 1) * chunk_seconds;
    return estimate;
  }
  // Steps after each other in which each line is busy for `step`, and which the next can begin after a delay and the
  // first chunk: all but the last take the longer of both. Exchange is one step. In direct the first chunks of all
  // owners share the line.
  const bool is_direct = layout.algorithm == AllreduceAlgorithm::kDirect;
  const bool is_exchange = layout.algorithm == AllreduceAlgorithm::kExchange;
  const double steps = is_exchange ? 1 : is_direct ? 2 : 2.0 * (sites - 1);
  const double step = estimate.busy() / steps;
  const double first = std::min(step, is_direct ? (sites - 1) * chunk_seconds : chunk_seconds);
  estimate.pipeline = (steps - 1) * first;
  estimate.overlap = (steps - 1) * std::min(step, estimate.way / steps + first);
  return estimate;
}

// So many that the delay of a link times its part of the line fits into their windows.
int Planner::lanes_for(const AllreduceLayout& layout) const {
  double most = 0;
  const bool has_neighbours =
      layout.algorithm == AllreduceAlgorithm::kRing || layout.algorithm == AllreduceAlgorithm::kTree;
  for (int from = 0; from < network_.site_count(); ++from) {
    const SiteLine& line = network_.sites[static_cast<std::size_t>(from)];
    const double links = (has_neighbours ? 1.0 : network_.site_count() - 1.0) * line.rank_count;
    for (int to = 0; to < network_.site_count(); ++to) {
      if (to == from) continue;
      const double round_trip =
          static_cast<double>(network_.path(from, to).delay_us + network_.path(to, from).delay_us) / kMillion;
      most = std::max(most, static_cast<double>(line.up_bytes_per_sec) / links * round_trip);
    }
  }
  return std::clamp(static_cast<int>(most / kLaneBytesInFlight) + 1, 1, kMostLanes);
}

double Planner::narrowest_path(const AllreduceLayout& layout) const {
  double most = 0;
  for (int from = 0; from < network_.site_count(); ++from) {
    for (int to = 0; to < network_.site_count(); ++to) {
      const std::int64_t rate = network_.path(from, to).bytes_per_sec;
      if (from != to && rate > 0) most = std::max(most, pair_load(layout, from, to) / static_cast<double>(rate));
    }
  }
  return most;
}

}  // namespace isthmus
