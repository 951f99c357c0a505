#include "benchmarks/bench/exercise.h"

#include <gtest/gtest.h>

#include "runtime/device/reducible.h"
#include "tests/support/world.h"

namespace isthmus::bench {
namespace {

ExerciseOptions small(Case c, DataType type, ReduceOp op) {
  ExerciseOptions options;
  options.run_case = c;
  options.dtype = type;
  options.op = op;
  options.count = 70'001;
  options.together = 3;
  options.timeout = std::chrono::seconds(20);
  return options;
}

Status run_twice(Exercise& exercise) {
  for (std::uint64_t seed : {1, 2}) {
    exercise.prepare(seed);
    ISTHMUS_RETURN_IF_ERROR(exercise.start());
    ISTHMUS_RETURN_IF_ERROR(exercise.finish());
    EXPECT_EQ(exercise.count_wrong(), 0u);
  }
  return Status();
}

TEST(Exercise, EveryCaseIsRightInAWorldOfThreads) {
  WorldOptions world;
  world.ranks_per_site = {2, 1};
  for (std::string_view name : case_names()) {
    SCOPED_TRACE(name);
    run_world(world, [&](WorldRank& self) {
      const Pattern pattern = *Pattern::create(DataType::kFloat32, ReduceOp::kSum, self.size());
      Exercise exercise(small(*parse_case(name), DataType::kFloat32, ReduceOp::kSum), self.communicator, pattern);
      return run_twice(exercise);
    });
  }
}

TEST(Exercise, AllreduceIsRightForEveryTypeAndOperator) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  run_world(world, [&](WorldRank& self) {
    for (int t = 0; t < kDataTypeCount; ++t) {
      for (int o = 0; o < kReduceOpCount; ++o) {
        const auto type = static_cast<DataType>(t);
        const auto op = static_cast<ReduceOp>(o);
        if (!is_reducible(type, op)) continue;
        const Pattern pattern = *Pattern::create(type, op, self.size());
        Exercise exercise(small(Case::kAllreduce, type, op), self.communicator, pattern);
        ISTHMUS_RETURN_IF_ERROR(run_twice(exercise));
      }
    }
    return Status();
  });
}

TEST(Exercise, AllGatherMovesEveryType) {
  WorldOptions world;
  world.ranks_per_site = {2, 1};
  run_world(world, [&](WorldRank& self) {
    for (int t = 0; t < kDataTypeCount; ++t) {
      const auto type = static_cast<DataType>(t);
      const Pattern pattern = *Pattern::create(type, ReduceOp::kSum, self.size());
      Exercise exercise(small(Case::kAllGather, type, ReduceOp::kSum), self.communicator, pattern);
      ISTHMUS_RETURN_IF_ERROR(run_twice(exercise));
    }
    return Status();
  });
}

TEST(Exercise, WhatNobodySentIsWrong) {
  WorldOptions world;
  run_world(world, [&](WorldRank& self) {
    const Pattern pattern = *Pattern::create(DataType::kFloat32, ReduceOp::kSum, self.size());
    Exercise exercise(small(Case::kAllreduce, DataType::kFloat32, ReduceOp::kSum), self.communicator, pattern);
    exercise.prepare(1);
    EXPECT_EQ(exercise.count_wrong(), 3u * 70'001);
    return Status();
  });
}

}  // namespace
}  // namespace isthmus::bench
