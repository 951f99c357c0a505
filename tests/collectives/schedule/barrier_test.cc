#include "collectives/schedule/barrier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"
#include "tests/support/schedule_executor.h"

namespace isthmus::testing {
namespace {

TEST(Barrier, CompletesWithoutBuffersInOneTrip) {
  for (const Shape& shape : all_shapes()) {
    SCOPED_TRACE(shape.name);
    const SiteMap sites = shape.sites();
    const auto build = [&](int rank) { return build_barrier(sites, rank); };
    const std::vector<BufferLayout> layouts(static_cast<std::size_t>(sites.size()));
    const std::vector<Buffer> nothing(layouts.size());
    run_world(sites, layouts, build, nothing, 1);
    run_world(sites, layouts, build, nothing, 2);
    EXPECT_EQ(wan_trips(build_all(sites, build), sites), sites.site_count() == 1 ? 0 : 1);
  }
}

// A rank that has not come keeps everyone: without its schedule no other rank gets through.
TEST(Barrier, NobodyLeavesBeforeEveryoneCame) {
  for (const Shape& shape : uneven_shapes()) {
    const SiteMap sites = shape.sites();
    for (int absent = 0; absent < sites.size(); ++absent) {
      std::vector<Schedule> schedules = build_all(sites, [&](int rank) { return build_barrier(sites, rank); });
      schedules[static_cast<std::size_t>(absent)] = Schedule();
      for (int rank = 0; rank < sites.size(); ++rank) {
        if (rank == absent) continue;
        std::vector<ScheduleMemory> memories(schedules.size(), ScheduleMemory({}, 0));
        ScheduleExecutor executor(schedules, &memories, SendMode::kEager, 7);
        EXPECT_NE(executor.run(), "");
        EXPECT_FALSE(executor.is_complete(static_cast<std::size_t>(rank))) << shape.name << ", absent " << absent;
      }
    }
  }
}

TEST(Barrier, ARankAloneHasNothingToDo) { EXPECT_TRUE(build_barrier(SiteMap({0}), 0).steps.empty()); }

}  // namespace
}  // namespace isthmus::testing
