#include "collectives/plan/lower_bound.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

Network network_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& lines) {
  Network network = uniform_network(static_cast<int>(lines.size()), 1, {}, {30'000});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    network.sites[i].up_bytes_per_sec = lines[i].first;
    network.sites[i].down_bytes_per_sec = lines[i].second;
  }
  return network;
}

TEST(LowerBound, OneSiteNeedsNoNetwork) { EXPECT_EQ(allreduce_lower_bound(network_of({{10, 10}}), 1000), 0); }

TEST(LowerBound, EqualSites) {
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{100, 100}, {100, 100}}), 1000), 10);
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{100, 100}, {100, 100}, {100, 100}, {100, 100}}), 1000), 15);
}

TEST(LowerBound, TheSlowestSiteMustSendAndReceiveOnce) {
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{100, 100}, {100, 100}, {100, 100}, {25, 100}}), 1000), 40);
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{100, 100}, {100, 100}, {100, 100}, {100, 25}}), 1000), 40);
}

TEST(LowerBound, AllLinesTogether) {
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{50, 100}, {50, 100}, {100, 50}}), 1000), 20);
  EXPECT_DOUBLE_EQ(allreduce_lower_bound(network_of({{60, 90}, {60, 90}, {60, 90}}), 900), 20);
}

}  // namespace
}  // namespace isthmus
