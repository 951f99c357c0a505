#include "collectives/schedule/site_inputs.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(SiteInputs, AscendingLocalRanksWithTheOwnInPlace) {
  const SiteMap sites({0, 1, 0, 0});
  ScheduleBuilder builder(DataType::kFloat32, ReduceOp::kSum);
  SiteInputs inputs;
  inputs.collect(builder, sites, 2, 9, {Space::kInput, 128}, 40, 0);
  ASSERT_EQ(inputs.operands.size(), 3u);
  EXPECT_EQ(inputs.operands[1].region.space, Space::kInput);
  EXPECT_EQ(inputs.operands[1].region.offset_bytes, 128u);
  EXPECT_EQ(inputs.operands[0].region.space, Space::kScratch);
  const Schedule schedule = builder.take();
  ASSERT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.steps[0].peer, 0u);
  EXPECT_EQ(schedule.steps[1].peer, 3u);
  EXPECT_EQ(schedule.steps[1].round, 9u);
  EXPECT_EQ(schedule.scratch_bytes, 128u);
}

}  // namespace
}  // namespace isthmus
