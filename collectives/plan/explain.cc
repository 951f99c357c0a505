#include "collectives/plan/explain.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "runtime/config/units.h"

namespace isthmus {
namespace {

constexpr int kMostSitesListed = 16;
constexpr std::int64_t kBitsPerByte = 8;
constexpr double kPercent = 100, kMillion = 1e6, kThousand = 1e3;

std::string_view kind_of(AllreduceAlgorithm algorithm) {
  switch (algorithm) {
    case AllreduceAlgorithm::kExchange: return "every site sends its partial to every other; one one-way trip";
    case AllreduceAlgorithm::kDirect:
      return "partials to the owner of each block, results back to all; two one-way trips";
    case AllreduceAlgorithm::kRing: return "blocks go around the neighbours twice; 2(S-1) one-way trips";
    case AllreduceAlgorithm::kTree: break;
  }
  return "up and down two binary trees; 2 floor(log2 S) one-way trips";
}

std::vector<double> shares_of(const AllreduceLayout& layout) {
  const double all = std::accumulate(layout.owner_weights.begin(), layout.owner_weights.end(), 0.0);
  std::vector<double> shares;
  for (const std::uint32_t weight : layout.owner_weights) shares.push_back(weight / all);
  return shares;
}

bool has_owners(AllreduceAlgorithm algorithm) {
  return algorithm == AllreduceAlgorithm::kDirect || algorithm == AllreduceAlgorithm::kRing;
}

std::string site_list(const Planner& planner, const AllreducePlan& plan) {
  const Network& network = planner.network();
  const std::vector<double> shares = shares_of(plan.layout);
  std::string text;
  for (int site = 0; site < std::min(network.site_count(), kMostSitesListed); ++site) {
    const SiteLine& line = network.sites[static_cast<std::size_t>(site)];
    text += fmt::format("  {:<10} {:>4} ranks  up {:>9}  down {:>9}", line.name, line.rank_count,
                        format_rate(line.up_bytes_per_sec * kBitsPerByte),
                        format_rate(line.down_bytes_per_sec * kBitsPerByte));
    if (has_owners(plan.layout.algorithm))
      text += fmt::format("  owns {:.1f} %", kPercent * shares[static_cast<std::size_t>(site)]);
    text += '\n';
  }
  if (network.site_count() > kMostSitesListed)
    text += fmt::format("  and {} more\n", network.site_count() - kMostSitesListed);
  return text;
}

std::string spread_of_delays(const Network& network) {
  std::int64_t least = INT64_MAX, most = 0, loss = 0;
  for (int from = 0; from < network.site_count(); ++from) {
    for (int to = 0; to < network.site_count(); ++to) {
      if (from == to) continue;
      const std::int64_t round_trip = network.path(from, to).delay_us + network.path(to, from).delay_us;
      least = std::min(least, round_trip);
      most = std::max(most, round_trip);
      loss = std::max(loss, network.path(from, to).loss_ppm);
    }
  }
  if (network.site_count() < 2) return "one site";
  const std::string times = least == most
                                ? format_seconds(static_cast<double>(least) / kMillion)
                                : fmt::format("{} to {}", format_seconds(static_cast<double>(least) / kMillion),
                                              format_seconds(static_cast<double>(most) / kMillion));
  return fmt::format("round trips {}, loss at most {}", times, format_fraction(static_cast<double>(loss) / kMillion));
}

std::string shares_in_words(const Planner& planner, const PlanRequest& request, const AllreducePlan& chosen) {
  if (chosen.layout.algorithm != AllreduceAlgorithm::kDirect || planner.owner_weights().empty()) return "";
  if (request.equal_shares) return "Shares: equal, as asked for.\n";
  PlanRequest equal = request;
  equal.algorithm = AllreduceAlgorithm::kDirect;
  equal.equal_shares = true;
  const double other = planner.plan(equal).estimate.time();
  return fmt::format(
      "Shares: by the sites' lines, so that all are done together; equal ones would take {} ({:.2f} x).\n",
      format_seconds(other), other / chosen.estimate.time());
}

std::string neighbours_in_words(const Planner& planner, const AllreducePlan& chosen) {
  if (chosen.layout.algorithm != AllreduceAlgorithm::kRing && chosen.layout.algorithm != AllreduceAlgorithm::kTree)
    return "";
  std::vector<std::string> names;
  for (const int site : chosen.layout.site_order) {
    if (names.size() == static_cast<std::size_t>(kMostSitesListed)) break;
    names.push_back(planner.network().sites[static_cast<std::size_t>(site)].name);
  }
  return fmt::format("Neighbours, by rate and then nearness: {}{}\n", fmt::join(names, " - "),
                     names.size() < chosen.layout.site_order.size() ? " - ..." : "");
}

std::string reason(const PlanRequest& request, const AllreducePlan& chosen) {
  if (request.algorithm) return "forced";
  return fmt::format("the least time{}", chosen.layout.algorithm == AllreduceAlgorithm::kExchange ||
                                                 chosen.layout.algorithm == AllreduceAlgorithm::kDirect
                                             ? ", or within 2 % of it and in site order"
                                             : " by more than 2 %");
}

}  // namespace

std::string format_bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * kThousand);
  return fmt::format("{:.1f} us", seconds * kMillion);
}

std::string explain_plan(const Planner& planner, const PlanRequest& request, const AllreducePlan& chosen) {
  const Network& network = planner.network();
  const PlanEstimate& estimate = chosen.estimate;
  std::string text =
      fmt::format("allreduce of {} ({}) over {} sites; {}; payload gets {:.1f} % of a line\n",
                  format_bytes(static_cast<double>(request.bytes)), dtype_name(request.type), network.site_count(),
                  spread_of_delays(network), static_cast<double>(network.payload_ppm) / kMillion * kPercent);
  text += site_list(planner, chosen);
  text += fmt::format("\nPlan: {} ({})\n  {}\n", allreduce_algorithm_name(chosen.layout.algorithm),
                      reason(request, chosen), kind_of(chosen.layout.algorithm));
  text += shares_in_words(planner, request, chosen) + neighbours_in_words(planner, chosen);
  text +=
      fmt::format("Chunks: at most {}. Lanes: {} per link fill its part of the line (a link measures for itself).\n",
                  format_bytes(static_cast<double>(chosen.chunk_bytes)), chosen.lanes);
  const std::string line = network.site_count() < 2
                               ? ""
                               : fmt::format(" ({} on the line of site {})", format_bytes(estimate.busiest_bytes),
                                             network.sites[static_cast<std::size_t>(estimate.busiest_site)].name);
  text += fmt::format("Time:  {} = way {} + transfer {}{} + pipeline {} - overlap {}\n",
                      format_seconds(estimate.time()), format_seconds(estimate.way), format_seconds(estimate.busy()),
                      line, format_seconds(estimate.pipeline), format_seconds(estimate.overlap));
  text += fmt::format("Bound: {} (no allreduce is faster on these lines){}\n\n", format_seconds(estimate.lower_bound),
                      estimate.lower_bound > 0
                          ? fmt::format("; the plan is {:.3f} x of it", estimate.time() / estimate.lower_bound)
                          : "");
  for (const AllreducePlan& plan : planner.candidates(request)) {
    text += fmt::format("{} {:<9} {:>10}  way {:>9}  transfer {:>9}  pipeline {:>9}  overlap {:>9}\n",
                        plan.layout.algorithm == chosen.layout.algorithm ? "*" : " ",
                        allreduce_algorithm_name(plan.layout.algorithm), format_seconds(plan.estimate.time()),
                        format_seconds(plan.estimate.way), format_seconds(plan.estimate.busy()),
                        format_seconds(plan.estimate.pipeline), format_seconds(plan.estimate.overlap));
  }
  return text;
}

std::string plan_as_json(const Planner& planner, const PlanRequest& request, const AllreducePlan& chosen) {
  const auto milliseconds = [](double seconds) { return fmt::format("{:.4f}", seconds * kThousand); };
  std::vector<std::string> candidates;
  for (const AllreducePlan& plan : planner.candidates(request))
    candidates.push_back(
        fmt::format("\"{}\": {}", allreduce_algorithm_name(plan.layout.algorithm), milliseconds(plan.estimate.time())));
  return fmt::format(
      "{{\"op\": \"allreduce\", \"bytes\": {}, \"dtype\": \"{}\", \"sites\": {}, \"algorithm\": \"{}\", "
      "\"chunk_bytes\": {}, \"lanes\": {}, \"owner_weights\": [{}], \"site_order\": [{}], \"time_ms\": {}, "
      "\"way_ms\": {}, \"transfer_ms\": {}, \"pipeline_ms\": {}, \"overlap_ms\": {}, \"bound_ms\": {}, "
      "\"candidates_ms\": {{{}}}}}",
      request.bytes, dtype_name(request.type), planner.network().site_count(),
      allreduce_algorithm_name(chosen.layout.algorithm), chosen.chunk_bytes, chosen.lanes,
      fmt::join(chosen.layout.owner_weights, ", "), fmt::join(chosen.layout.site_order, ", "),
      milliseconds(chosen.estimate.time()), milliseconds(chosen.estimate.way), milliseconds(chosen.estimate.busy()),
      milliseconds(chosen.estimate.pipeline), milliseconds(chosen.estimate.overlap),
      milliseconds(chosen.estimate.lower_bound), fmt::join(candidates, ", "));
}

}  // namespace isthmus
