#include "benchmarks/lab/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(RankEnvironment, IsWhatTorchrunWouldSetAndTheCallersOwn) {
  TopologyDefaults defaults;
  defaults.site_count = 2;
  defaults.ranks_per_site = 3;
  const char* const inherited[] = {"PATH=/bin", "RANK=99", "RANKS=5", "ISTHMUS_SITE=x", nullptr};
  EXPECT_THAT(rank_environment(inherited, uniform_topology(defaults), 1, 2, 29501, {"MARK=1", "ISTHMUS_SECRET=s"}),
              testing::UnorderedElementsAre("PATH=/bin", "RANKS=5", "RANK=5", "WORLD_SIZE=6", "LOCAL_RANK=2",
                                            "LOCAL_WORLD_SIZE=3", "MASTER_ADDR=10.77.0.1", "MASTER_PORT=29501",
                                            "ISTHMUS_SITE=b", "MARK=1", "ISTHMUS_SECRET=s"));
}

TEST(RankEnvironment, ARunHasASecretOfItsOwnUnlessTheCallerDecides) {
  const char* const none[] = {"PATH=/bin", "ISTHMUS_SECRETS=x", nullptr};
  const auto first = secret_entry(none), second = secret_entry(none);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_THAT(*first, testing::StartsWith("ISTHMUS_SECRET=isthmus_1_"));
  EXPECT_NE(*first, *second);
  for (const char* entry : {"ISTHMUS_SECRET=x", "ISTHMUS_SECRET_FILE=/x", "ISTHMUS_SECURITY=off"}) {
    const char* const decided[] = {"PATH=/bin", entry, nullptr};
    EXPECT_EQ(*secret_entry(decided), "") << entry;
  }
}

TEST(RankEnvironment, OthersReachAFirstSiteBehindNatByItsPublicAddress) {
  Topology topology = uniform_topology(TopologyDefaults());
  topology.sites[0].nat.enabled = true;
  const char* const nothing[] = {nullptr};
  EXPECT_THAT(rank_environment(nothing, topology, 0, 0, 29500, {}), testing::Contains("MASTER_ADDR=10.77.0.1"));
  EXPECT_THAT(rank_environment(nothing, topology, 1, 0, 29500, {}), testing::Contains("MASTER_ADDR=10.78.0.1"));
}

}  // namespace
}  // namespace isthmus::lab
