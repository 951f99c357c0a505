#include "collectives/plan/measured_network.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

constexpr SitePath kAssumedPath{.delay_us = 30'000};
const SiteLine kAssumedLine{"", 1, 1000, 2000};

TEST(MeasuredNetwork, LinesAreWhatAllOthersSaw) {
  std::vector<PathSample> samples(9);
  samples[0 * 3 + 1] = {10'000, 50, 0};  // site 0 received from 1
  samples[0 * 3 + 2] = {20'000, 10, 0};
  samples[1 * 3 + 0] = {12'000, 60, 7};
  samples[2 * 3 + 0] = {0, 40, 0};
  const Network network = measured_network({"a", "b", "c"}, {1, 2, 3}, samples, kAssumedLine, kAssumedPath);
  EXPECT_EQ(network.sites[0].up_bytes_per_sec, 100);
  EXPECT_EQ(network.sites[0].down_bytes_per_sec, 60);
  EXPECT_EQ(network.sites[1].up_bytes_per_sec, 50);
  EXPECT_EQ(network.sites[1].down_bytes_per_sec, 60);
  EXPECT_EQ(network.sites[2].rank_count, 3);
  EXPECT_EQ(network.path(0, 1).delay_us, 5'000);  // the shorter of both measurements
  EXPECT_EQ(network.path(1, 0).loss_ppm, 7);
  EXPECT_EQ(network.path(2, 0).delay_us, 10'000);
  EXPECT_EQ(network.path(1, 2).delay_us, 30'000);  // not measured
  EXPECT_EQ(network.payload_ppm, 1'000'000);
  EXPECT_TRUE(Network::decode(network.encode()).ok());
}

TEST(MeasuredNetwork, NothingMeasured) {
  const Network network = measured_network({"a", "b"}, {1, 1}, std::vector<PathSample>(4), kAssumedLine, kAssumedPath);
  EXPECT_EQ(network.sites[1].up_bytes_per_sec, 1000);
  EXPECT_EQ(network.sites[1].down_bytes_per_sec, 2000);
  EXPECT_EQ(network.path(0, 1).delay_us, 30'000);
}

TEST(MeasuredNetwork, SomeOfTheSites) {
  Network network = uniform_network(4, 1, {"", 1, 100, 100}, {5});
  network.path(3, 1).delay_us = 77;
  const Network selected = select_sites(network, {3, 1});
  EXPECT_EQ(selected.sites[0].name, "d");
  EXPECT_EQ(selected.path(0, 1).delay_us, 77);
  EXPECT_EQ(selected.path(1, 0).delay_us, 5);
}

}  // namespace
}  // namespace isthmus
