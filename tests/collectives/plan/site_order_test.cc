#include "collectives/plan/site_order.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(SiteOrder, EqualSitesStayInOrder) {
  EXPECT_EQ(neighbour_order(uniform_network(4, 1, {}, {1000})), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(neighbour_order(uniform_network(1, 1, {}, {})), (std::vector<int>{0}));
}

TEST(SiteOrder, FastBeforeNear) {
  Network network = uniform_network(4, 1, {"", 1, 100, 100}, {10'000});
  network.path(0, 1).bytes_per_sec = 10;  // one way is enough
  network.path(0, 3).delay_us = 5'000;
  EXPECT_EQ(neighbour_order(network), (std::vector<int>{0, 3, 1, 2}));
  network.path(0, 3).bytes_per_sec = 20;
  EXPECT_EQ(neighbour_order(network), (std::vector<int>{0, 2, 1, 3}));
}

}  // namespace
}  // namespace isthmus
