#include "collectives/schedule/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace isthmus {
namespace {

TEST(ScheduleBuilder, StepsKeepTheirFieldsOperandsAndDependencies) {
  ScheduleBuilder builder(DataType::kFloat16, ReduceOp::kMax);
  const StepIndex received = builder.receive(3, 17, {Space::kScratch, 64}, 20, {});
  const std::array operands = {ReduceOperand{{Space::kInput, 8}}, ReduceOperand{{Space::kScratch, 64}, true, -2}};
  const std::array after = {received, kNoStep};
  const StepIndex reduced = builder.reduce({Space::kOutput, 8}, {false, 2, 5}, operands, 10, after);
  const StepIndex sent = builder.send(4, 18, {Space::kOutput, 8}, 20, After(reduced));
  builder.copy({Space::kOutput, 0}, {Space::kInput, 0}, 8, After(kNoStep));
  const Schedule schedule = builder.take();

  ASSERT_EQ(schedule.steps.size(), 4u);
  EXPECT_EQ(schedule.op, ReduceOp::kMax);
  EXPECT_EQ(schedule.steps[received].peer, 3u);
  EXPECT_EQ(schedule.steps[received].round, 17u);
  const Step& reduce = schedule.steps[reduced];
  EXPECT_EQ(reduce.count, 10u);
  EXPECT_EQ(reduce.divisor, 5u);
  EXPECT_EQ(reduce.exponent, 2);
  ASSERT_EQ(schedule.operands_of(reduce).size(), 2u);
  EXPECT_TRUE(schedule.operands_of(reduce)[1].wide);
  EXPECT_EQ(schedule.operands_of(reduce)[1].exponent, -2);
  ASSERT_EQ(schedule.dependencies_of(reduce).size(), 1u);
  EXPECT_EQ(schedule.dependencies_of(reduce)[0], received);
  EXPECT_EQ(schedule.dependencies_of(schedule.steps[sent])[0], reduced);
  EXPECT_EQ(schedule.operands_of(schedule.steps[3]).size(), 1u);
  EXPECT_TRUE(schedule.dependencies_of(schedule.steps[3]).empty());
}

TEST(ScheduleBuilder, AnAverageIsASum) {
  EXPECT_EQ(ScheduleBuilder(DataType::kInt8, ReduceOp::kAvg).take().op, ReduceOp::kSum);
}

TEST(ScheduleBuilder, ScratchIsAlignedAndApart) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  const Region first = builder.allocate_scratch(1), second = builder.allocate_scratch(65),
               third = builder.allocate_scratch(0);
  EXPECT_EQ(first.offset_bytes, 0u);
  EXPECT_EQ(second.offset_bytes, 64u);
  EXPECT_EQ(third.offset_bytes, 192u);
  EXPECT_EQ(builder.take().scratch_bytes, 192u);
}

TEST(ScheduleBuilder, RoundsOfAChunkAreDistinct) {
  std::vector<std::uint32_t> rounds;
  for (std::uint32_t chunk : {0u, 1u, 1u << 25}) {
    for (Phase phase : {Phase::kToHandler, Phase::kPartial, Phase::kFinal, Phase::kFromHandler}) {
      rounds.push_back(round_of(chunk, phase));
    }
  }
  std::ranges::sort(rounds);
  EXPECT_EQ(std::ranges::adjacent_find(rounds), rounds.end());
}

}  // namespace
}  // namespace isthmus
