#include "collectives/simulate/simulated_allreduce.h"

#include <algorithm>
#include <numeric>

#include "collectives/plan/explain.h"
#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/chunks.h"

namespace isthmus {
namespace {

constexpr double kMateSeconds = 20e-6;    // a message within a site
constexpr double kMateBytesPerSec = 3e9;  // between mates
constexpr double kReduceBytesPerSec = 4e9;
constexpr double kThousand = 1e3;

bool are_equal_sites(const Network& network) {
  return std::ranges::all_of(network.sites,
                             [&](const SiteLine& line) { return line.rank_count == network.sites[0].rank_count; });
}

// The lines of one shard of `shards`: each takes its part of every site's.
Network network_of_shard(Network network, int shards) {
  for (SiteLine& line : network.sites) {
    line.rank_count = 1;
    line.up_bytes_per_sec = std::max<std::int64_t>(1, line.up_bytes_per_sec / shards);
    line.down_bytes_per_sec = std::max<std::int64_t>(1, line.down_bytes_per_sec / shards);
  }
  for (SitePath& path : network.paths)
    if (path.bytes_per_sec > 0) path.bytes_per_sec = std::max<std::int64_t>(1, path.bytes_per_sec / shards);
  return network;
}

SiteMap site_map(const Network& network) {
  std::vector<int> site_of_rank;
  for (int site = 0; site < network.site_count(); ++site)
    site_of_rank.insert(site_of_rank.end(),
                        static_cast<std::size_t>(network.sites[static_cast<std::size_t>(site)].rank_count), site);
  return SiteMap(site_of_rank);
}

// The mates' pieces of the first chunk come together before it crosses the WAN, and the last result goes back to them;
// in between the site tier keeps up, or is what everything waits for.
double with_site_tier(double wan_seconds, double shard_bytes, double chunk_bytes, int mates) {
  const double others = mates - 1;
  const double first =
      kMateSeconds + others * chunk_bytes / kMateBytesPerSec + mates * chunk_bytes / kReduceBytesPerSec;
  const double last = kMateSeconds + others * chunk_bytes / kMateBytesPerSec;
  const double all = 2 * others * shard_bytes / kMateBytesPerSec + mates * shard_bytes / kReduceBytesPerSec;
  return std::max(wan_seconds, all) + first + last;
}

AllreduceRequest request_of(const AllreducePlan& plan, const PlanRequest& request, std::size_t count) {
  AllreduceRequest allreduce;
  allreduce.count = count;
  allreduce.type = request.type;
  allreduce.algorithm = plan.layout.algorithm;
  allreduce.chunk_bytes = plan.chunk_bytes;
  allreduce.owner_weights = plan.layout.owner_weights;
  allreduce.site_order = plan.layout.site_order;
  return allreduce;
}

Result<SimulationResult> run(const Network& network, const AllreduceRequest& request) {
  const SiteMap sites = site_map(network);
  return simulate_schedules(network, sites, [&](int rank) {
    AllreduceRequest own = request;
    own.rank = rank;
    return build_allreduce(sites, own);
  });
}

double busiest_bytes(const SimulationResult& result) {
  return result.wan_bytes_sent.empty() ? 0 : static_cast<double>(*std::ranges::max_element(result.wan_bytes_sent));
}

}  // namespace

Result<SimulatedAllreduce> simulate_allreduce(const Planner& planner, const PlanRequest& request) {
  const Network& network = planner.network();
  SimulatedAllreduce simulated;
  simulated.plan = planner.plan(request);
  for (const SiteLine& line : network.sites) simulated.ranks += line.rank_count;
  const int shards = network.sites[0].rank_count;
  const std::size_t count = request.bytes / dtype_size_bytes(request.type);
  simulated.is_one_shard = shards > 1 && are_equal_sites(network);
  if (!simulated.is_one_shard) {
    ISTHMUS_ASSIGN_OR_RETURN(simulated.result, run(network, request_of(simulated.plan, request, count)));
    return simulated;
  }
  const Range shard = split_evenly({0, count}, static_cast<std::size_t>(shards), 0);  // the longest
  ISTHMUS_ASSIGN_OR_RETURN(simulated.result,
                           run(network_of_shard(network, shards), request_of(simulated.plan, request, shard.size)));
  const auto shard_bytes = static_cast<double>(shard.size * dtype_size_bytes(request.type));
  simulated.result.seconds =
      with_site_tier(simulated.result.seconds, shard_bytes,
                     std::min(shard_bytes, static_cast<double>(simulated.plan.chunk_bytes)), shards);
  for (std::int64_t& bytes : simulated.result.wan_bytes_sent) bytes *= shards;
  simulated.result.wan_messages *= static_cast<std::uint64_t>(shards);
  return simulated;
}

std::string simulation_in_words(const Planner& planner, const PlanRequest& request,
                                const SimulatedAllreduce& simulated) {
  const PlanEstimate& estimate = simulated.plan.estimate;
  return fmt::format(
      "allreduce of {} over {} sites, {} ranks, {}: {} predicted (planner {}), bound {} ({:.3f} x), {} sent by the "
      "busiest site in {} messages of all\n",
      format_bytes(static_cast<double>(request.bytes)), planner.network().site_count(), simulated.ranks,
      allreduce_algorithm_name(simulated.plan.layout.algorithm), format_seconds(simulated.result.seconds),
      format_seconds(estimate.time()), format_seconds(estimate.lower_bound),
      estimate.lower_bound > 0 ? simulated.result.seconds / estimate.lower_bound : 0,
      format_bytes(busiest_bytes(simulated.result)), simulated.result.wan_messages);
}

std::string simulation_as_json(const Planner& planner, const PlanRequest& request,
                               const SimulatedAllreduce& simulated) {
  const SimulationResult& result = simulated.result;
  const std::int64_t total =
      std::accumulate(result.wan_bytes_sent.begin(), result.wan_bytes_sent.end(), std::int64_t{0});
  return fmt::format(
      "{{\"op\": \"allreduce\", \"bytes\": {}, \"dtype\": \"{}\", \"sites\": {}, \"ranks\": {}, \"algorithm\": \"{}\", "
      "\"chunk_bytes\": {}, \"predicted_ms\": {:.4f}, \"planned_ms\": {:.4f}, \"bound_ms\": {:.4f}, "
      "\"wan_bytes_busiest_site\": {:.0f}, \"wan_bytes\": {}, \"wan_messages\": {}, \"one_shard_simulated\": {}, "
      "\"steps\": {}, \"events\": {}}}\n",
      request.bytes, dtype_name(request.type), planner.network().site_count(), simulated.ranks,
      allreduce_algorithm_name(simulated.plan.layout.algorithm), simulated.plan.chunk_bytes, result.seconds * kThousand,
      simulated.plan.estimate.time() * kThousand, simulated.plan.estimate.lower_bound * kThousand,
      busiest_bytes(result), total, result.wan_messages, simulated.is_one_shard, result.steps, result.events);
}

}  // namespace isthmus
