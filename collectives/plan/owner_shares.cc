#include "collectives/plan/owner_shares.h"

#include <algorithm>
#include <numeric>

namespace isthmus {
namespace {

constexpr double kWeightOfAll = 1 << 20;

std::vector<double> line_rates(const Network& network) {
  std::vector<double> rates;
  for (const SiteLine& line : network.sites)
    rates.push_back(static_cast<double>(std::min(line.up_bytes_per_sec, line.down_bytes_per_sec)));
  return rates;
}

}  // namespace

// In units of size: T >= 1 / r_i for all i, so no limit is negative, and the sum of the limits is
// (T sum(r) - S) / (S - 2).
std::vector<std::uint32_t> owner_shares(const Network& network) {
  const int sites = network.site_count();
  if (sites < 3) return std::vector<std::uint32_t>(network.sites.size(), 1);
  const std::vector<double> rates = line_rates(network);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double time = std::max(1 / *std::ranges::min_element(rates), (2.0 * sites - 2) / sum);
  std::vector<double> limits;
  for (const double rate : rates) limits.push_back(std::max(0.0, time * rate - 1));
  const double all = std::accumulate(limits.begin(), limits.end(), 0.0);
  std::vector<std::uint32_t> weights;
  for (const double limit : limits) weights.push_back(static_cast<std::uint32_t>(limit / all * kWeightOfAll + 0.5));
  return weights;
}

}  // namespace isthmus
