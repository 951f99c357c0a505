#include "collectives/schedule/premultiply.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/builder.h"
#include "collectives/schedule/reduce_scatter.h"

namespace isthmus {
namespace {

std::size_t count_steps(const Schedule& schedule, StepKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count_if(schedule.steps, [kind](const Step& step) { return step.kind == kind; }));
}

// Whoever reads the input reads products, and waits for them.
void expect_only_products_are_read(const Schedule& schedule) {
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::kScale) {
      EXPECT_EQ(schedule.operands_of(step).front().region.space, Space::kInput);
      EXPECT_NE(step.region.space, Space::kInput);
      continue;
    }
    EXPECT_NE(step.region.space, Space::kInput);
    for (const ReduceOperand& operand : schedule.operands_of(step)) EXPECT_NE(operand.region.space, Space::kInput);
  }
}

TEST(Premultiply, EveryElementIsScaledOnce) {
  const SiteMap sites({0, 0, 1, 2, 2});
  for (const AllreduceAlgorithm algorithm :
       {AllreduceAlgorithm::kExchange, AllreduceAlgorithm::kDirect, AllreduceAlgorithm::kRing}) {
    for (int rank = 0; rank < sites.size(); ++rank) {
      const Schedule sum =
          build_allreduce(sites, {.rank = rank, .count = 1003, .algorithm = algorithm, .chunk_bytes = 256});
      const Schedule scaled = premultiply(sum, Products::kInOutput);
      std::size_t elements = 0;
      for (const Step& step : scaled.steps) elements += step.kind == StepKind::kScale ? step.count : 0;
      EXPECT_EQ(elements, 1003u);
      EXPECT_EQ(scaled.scratch_bytes, sum.scratch_bytes);
      EXPECT_EQ(count_steps(scaled, StepKind::kSend), count_steps(sum, StepKind::kSend));
      expect_only_products_are_read(scaled);
    }
  }
}

TEST(Premultiply, ScratchHoldsTheProducts) {
  const SiteMap sites({0, 1, 1});
  const Schedule sum = build_reduce_scatter(sites, {.rank = 1, .block_counts = {100, 100, 100}});
  const Schedule scaled = premultiply(sum, Products::kInScratch);
  EXPECT_EQ(scaled.scratch_bytes, (sum.scratch_bytes + 63) / 64 * 64 + 3 * 100 * sizeof(float));
  expect_only_products_are_read(scaled);
}

// Reads that overlap without being equal share the piece that both need.
TEST(Premultiply, OverlappingReadsShareTheirPieces) {
  ScheduleBuilder builder(DataType::kFloat32, ReduceOp::kPremulSum);
  builder.send(1, 0, {Space::kInput, 0}, 40, {});
  builder.send(1, 4, {Space::kInput, 20}, 40, {});
  const Schedule scaled = premultiply(builder.take(), Products::kInScratch);
  ASSERT_EQ(scaled.steps.size(), 5u);
  EXPECT_EQ(count_steps(scaled, StepKind::kScale), 3u);
  const auto first = scaled.dependencies_of(scaled.steps[2]), second = scaled.dependencies_of(scaled.steps[4]);
  EXPECT_EQ(std::vector(first.begin(), first.end()), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(std::vector(second.begin(), second.end()), (std::vector<std::uint32_t>{1, 3}));
}

TEST(Premultiply, NothingToScaleChangesNothing) {
  const Schedule scaled = premultiply(Schedule(), Products::kInScratch);
  EXPECT_TRUE(scaled.steps.empty());
  EXPECT_EQ(scaled.scratch_bytes, 0u);
}

}  // namespace
}  // namespace isthmus
