#include "collectives/plan/owner_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace isthmus {
namespace {

Network network_of(const std::vector<std::int64_t>& rates) {
  Network network = uniform_network(static_cast<int>(rates.size()), 1, {}, {30'000});
  for (std::size_t i = 0; i < rates.size(); ++i)
    network.sites[i].up_bytes_per_sec = network.sites[i].down_bytes_per_sec = rates[i];
  return network;
}

// Time of the slowest line per byte of the buffer.
double time_with(const std::vector<std::int64_t>& rates, const std::vector<std::uint32_t>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double longest = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double load = 1 + (static_cast<double>(rates.size()) - 2) * weights[i] / all;
    longest = std::max(longest, load / static_cast<double>(rates[i]));
  }
  return longest;
}

TEST(OwnerShares, AreEqualOnEqualLines) {
  const std::vector<std::uint32_t> weights = owner_shares(network_of({100, 100, 100, 100, 100}));
  for (const std::uint32_t weight : weights) EXPECT_EQ(weight, weights[0]);
}

TEST(OwnerShares, ASiteAtAQuarterOfTheRateOwnsNothing) {
  const std::vector<std::uint32_t> weights = owner_shares(network_of({100, 100, 25, 100}));
  EXPECT_EQ(weights[2], 0u);
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[3]);
  EXPECT_NEAR(time_with({100, 100, 25, 100}, weights), 1.0 / 25, 1e-6);
  EXPECT_NEAR(time_with({100, 100, 25, 100}, {1, 1, 1, 1}), 1.5 / 25, 1e-6);
}

TEST(OwnerShares, TheNarrowerDirectionCounts) {
  Network network = network_of({100, 100, 100});
  network.sites[1].down_bytes_per_sec = 80;
  const std::vector<std::uint32_t> weights = owner_shares(network);
  EXPECT_LT(weights[1], weights[0]);
}

// No shares are faster than the bound of their lines, and these are as fast.
TEST(OwnerShares, ReachTheBoundOfTheLines) {
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> rate(1'000'000, 20'000'000);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> rates(static_cast<std::size_t>(3 + round % 15));
    for (std::int64_t& each : rates) each = rate(random);
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    const double bound = std::max(1.0 / static_cast<double>(*std::ranges::min_element(rates)),
                                  2 * (static_cast<double>(rates.size()) - 1) / sum);
    const double time = time_with(rates, owner_shares(network_of(rates)));
    EXPECT_GE(time, bound * (1 - 1e-9));
    EXPECT_LE(time, bound * (1 + 1e-4)) << "round " << round;
  }
}

}  // namespace
}  // namespace isthmus
