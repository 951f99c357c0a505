#include "collectives/site_map.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(SiteMap, SitesByTheirLowestRankAndRanksAscending) {
  const SiteMap sites({7, 5, 7, 3, 5, 7});
  EXPECT_EQ(sites.size(), 6);
  EXPECT_EQ(sites.site_count(), 3);
  EXPECT_EQ(sites.ranks_of(0), (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(sites.ranks_of(1), (std::vector<int>{1, 4}));
  EXPECT_EQ(sites.ranks_of(2), (std::vector<int>{3}));
  EXPECT_EQ(sites.site_of(4), 1);
  EXPECT_EQ(sites.local_rank_of(4), 1);
  EXPECT_EQ(sites.local_rank_of(5), 2);
  EXPECT_EQ(sites.max_local_size(), 3);
}

TEST(SiteMap, HandlersExistInSitesOfAnySize) {
  const SiteMap sites({0, 0, 0, 1, 1, 2});
  EXPECT_EQ(sites.handler(0, 2), 2);
  EXPECT_EQ(sites.handler(1, 2), 3);
  EXPECT_EQ(sites.handler(2, 2), 5);
}

TEST(SiteMap, EmptyMap) {
  EXPECT_EQ(SiteMap().size(), 0);
  EXPECT_EQ(SiteMap().max_local_size(), 0);
}

}  // namespace
}  // namespace isthmus
