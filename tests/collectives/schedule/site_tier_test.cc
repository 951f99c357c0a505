#include "collectives/schedule/site_tier.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(AverageScale, PowersOfTwoForHalves) {
  const SiteMap sites({0, 1, 1, 1, 2, 2});
  const AverageScale scale(DataType::kFloat16, ReduceOp::kAvg, sites);
  EXPECT_EQ(scale.input_in_site(0), 0);
  EXPECT_EQ(scale.input_in_site(1), -2);
  EXPECT_EQ(scale.input_in_site(2), -1);
  EXPECT_EQ(scale.input_in_total(), -3);
  for (int site = 0; site < 3; ++site) {
    EXPECT_EQ(scale.input_in_site(site) + scale.partial_in_total(site), scale.input_in_total());
  }
  EXPECT_EQ(scale.finish().exponent, 3);
  EXPECT_EQ(scale.finish().divisor, 6u);
}

TEST(AverageScale, NothingIsScaledOtherwise) {
  const SiteMap sites({0, 0, 0, 1});
  for (const auto& [type, op] : {std::pair{DataType::kFloat32, ReduceOp::kAvg}, {DataType::kInt32, ReduceOp::kAvg},
                                 {DataType::kBFloat16, ReduceOp::kSum}, {DataType::kFloat16, ReduceOp::kMax}}) {
    const AverageScale scale(type, op, sites);
    EXPECT_EQ(scale.input_in_site(0), 0);
    EXPECT_EQ(scale.partial_in_total(0), 0);
    EXPECT_EQ(scale.input_in_total(), 0);
    EXPECT_EQ(scale.finish().exponent, 0);
    EXPECT_EQ(scale.finish().divisor, op == ReduceOp::kAvg ? 4u : 1u);
  }
}

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
