#include "collectives/schedule/ping.h"

#include <gtest/gtest.h>

#include "tests/support/schedule_check.h"

namespace isthmus {
namespace {

TEST(Ping, IsARoundTrip) {
  const std::vector<Schedule> schedules = {build_ping(1, true), build_ping(0, false)};
  const std::vector<testing::BufferLayout> none(2);
  EXPECT_EQ(testing::find_defect(schedules, none), "");
  EXPECT_EQ(testing::wan_trips(schedules, SiteMap({0, 1})), 2);
}

}  // namespace
}  // namespace isthmus
