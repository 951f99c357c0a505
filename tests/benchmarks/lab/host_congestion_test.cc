#include "benchmarks/lab/host_congestion.h"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(HostCongestion, TakesOutOnlyWhatWasAdded) {
  EXPECT_EQ(list_without("reno bbr cubic", {"cubic"}), "reno bbr");
  EXPECT_EQ(list_without("reno bbr", {"cubic", "cubic"}), "reno bbr");
  EXPECT_EQ(list_without("cubic\treno\n", {"cubic"}), "reno");
}

}  // namespace
}  // namespace isthmus::lab
