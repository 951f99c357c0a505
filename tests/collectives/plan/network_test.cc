#include "collectives/plan/network.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(Network, IsTheSameAfterItWasSentAround) {
  Network network = uniform_network(3, 2, {"", 1, 1000, 2000}, {15'000, 20, 0});
  network.path(0, 2) = {70'000, 0, 500};
  network.payload_ppm = 948'000;
  const Result<Network> decoded = Network::decode(network.encode());
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->encode(), network.encode());
  EXPECT_EQ(decoded->sites[2].name, "c");
  EXPECT_EQ(decoded->sites[2].rank_count, 2);
  EXPECT_EQ(decoded->sites[2].down_bytes_per_sec, 2000);
  EXPECT_EQ(decoded->path(0, 2).bytes_per_sec, 500);
  EXPECT_EQ(decoded->path(2, 0).delay_us, 15'000);
  EXPECT_EQ(decoded->payload_ppm, 948'000);
}

TEST(Network, RefusesWhatMakesNoSense) {
  const Network good = uniform_network(2, 1, {}, {1000});
  const std::string bytes = good.encode();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(Network::decode(std::string_view(bytes).substr(0, length)).status().code(), StatusCode::kCorruption);
  EXPECT_FALSE(Network::decode(bytes + "x").ok());
  Network bad = good;
  bad.sites[1].up_bytes_per_sec = 0;
  EXPECT_FALSE(Network::decode(bad.encode()).ok());
  bad = good;
  bad.path(0, 1).loss_ppm = 1'000'000;
  EXPECT_FALSE(Network::decode(bad.encode()).ok());
  bad = good;
  bad.path(0, 1).delay_us = -1;
  EXPECT_FALSE(Network::decode(bad.encode()).ok());
}

TEST(Network, PayloadShare) {
  EXPECT_NEAR(static_cast<double>(payload_share_ppm(1500)), 949'000, 1000);
  EXPECT_GT(payload_share_ppm(9000), 990'000);
}

TEST(Network, NamesAreThoseOfTheLab) {
  EXPECT_EQ(default_site_name(0), "a");
  EXPECT_EQ(default_site_name(25), "z");
  EXPECT_EQ(default_site_name(26), "s26");
}

}  // namespace
}  // namespace isthmus
