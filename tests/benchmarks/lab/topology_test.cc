#include "benchmarks/lab/topology.h"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(Topology, NumbersRanksSiteBySite) {
  TopologyDefaults defaults;
  defaults.site_count = 3;
  defaults.ranks_per_site = 2;
  Topology topology = uniform_topology(defaults);
  topology.sites[1].rank_count = 5;
  EXPECT_EQ(topology.first_rank(0), 0);
  EXPECT_EQ(topology.first_rank(1), 2);
  EXPECT_EQ(topology.first_rank(2), 7);
  EXPECT_EQ(topology.world_size(), 9);
  EXPECT_EQ(topology.find_site("c"), 2);
  EXPECT_EQ(topology.find_site("d"), -1);
}

TEST(Topology, FlatKeepsTheRanksInOneSite) {
  TopologyDefaults defaults;
  defaults.site_count = 3;
  defaults.ranks_per_site = 2;
  const Topology flat = flat_topology(uniform_topology(defaults));
  EXPECT_EQ(flat.site_count(), 1);
  EXPECT_EQ(flat.world_size(), 6);
  EXPECT_EQ(flat.sites[0].name, "a");
  EXPECT_EQ(flat.pairs.size(), 1u);
}

TEST(Topology, NamesManySites) {
  EXPECT_EQ(default_site_name(25), "z");
  EXPECT_EQ(default_site_name(26), "s26");
}

}  // namespace
}  // namespace isthmus::lab
