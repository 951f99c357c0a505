// Allreduces that are so large that they are done in parts: 1 MiB each at the chunks of 4 KiB that are used here.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/world.h"

namespace isthmus {
namespace {

using Int64s = std::vector<std::int64_t>;
constexpr DataType kInt64 = DataType::kInt64;
constexpr std::size_t kMiB = 1024 * 1024;
constexpr std::size_t kCount = 5 * kMiB / sizeof(std::int64_t) + 3;  // 6 parts, not all of one size

WorldOptions world_of(std::vector<int> ranks_per_site) {
  WorldOptions world;
  world.ranks_per_site = std::move(ranks_per_site);
  world.options.chunk_bytes = world.options.segment_bytes = 4 * 1024;
  world.options.timeout_ms = 5000;
  return world;
}

Int64s input_of(int rank, std::size_t count) {
  Int64s values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int64_t>(i * 2654435761u) + rank * static_cast<std::int64_t>(i);
  return values;
}

Int64s sum_of(int ranks, std::size_t count) {
  Int64s sum(count, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const Int64s theirs = input_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += theirs[i];
  }
  return sum;
}

class Parts : public testing::TestWithParam<std::vector<int>> {};

TEST_P(Parts, TheSumIsThatOfTheWhole) {
  run_world(world_of(GetParam()), [](WorldRank& self) {
    const Int64s in = input_of(self.rank, kCount), expected = sum_of(self.size(), kCount);
    Int64s out(kCount, -1), in_place = in;
    Communicator& c = *self.communicator;
    const auto first = c.allreduce(in.data(), out.data(), kCount, kInt64, ReduceOp::kSum, {});
    const auto second = c.allreduce(in_place.data(), in_place.data(), kCount, kInt64, ReduceOp::kSum, {});
    std::int64_t one = 1;  // called after them, and need not wait for them
    EXPECT_TRUE(wait_for(c.allreduce(&one, &one, 1, kInt64, ReduceOp::kSum, {})).ok());
    EXPECT_EQ(one, self.size());
    EXPECT_EQ(wait_for(second).to_string(), Status().to_string());
    EXPECT_EQ(wait_for(first).to_string(), Status().to_string());
    EXPECT_TRUE(out == expected);
    EXPECT_TRUE(in_place == expected);
  });
}

TEST_P(Parts, EachRankHasItsOwnFactor) {
  run_world(world_of(GetParam()), [](WorldRank& self) {
    const std::size_t count = 3 * kMiB / sizeof(float) + 1;
    std::vector<float> values(count, 1.0f);
    CallOptions options;
    options.premul_factor = self.rank + 1;
    EXPECT_TRUE(wait_for(self.communicator->allreduce(values.data(), values.data(), count, DataType::kFloat32,
                                                      ReduceOp::kPremulSum, options))
                    .ok());
    const float expected = static_cast<float>(self.size() * (self.size() + 1)) / 2;
    EXPECT_EQ(values, std::vector<float>(count, expected));
  });
}

TEST_P(Parts, LargeAndSmallBuffersTogether) {
  run_world(world_of(GetParam()), [](WorldRank& self) {
    Int64s large = input_of(self.rank, kCount), small(10, self.rank), tiny(3, 1);
    const std::vector<BufferPair> buffers = {{small.data(), small.data(), small.size(), kInt64},
                                             {large.data(), large.data(), large.size(), kInt64},
                                             {tiny.data(), tiny.data(), tiny.size(), kInt64}};
    EXPECT_TRUE(wait_for(self.communicator->allreduce_coalesced(buffers, ReduceOp::kSum, {})).ok());
    EXPECT_EQ(large, sum_of(self.size(), kCount));
    EXPECT_EQ(small, Int64s(10, self.size() * (self.size() - 1) / 2));
    EXPECT_EQ(tiny, Int64s(3, self.size()));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Parts,
                         testing::Values(std::vector<int>{1, 1}, std::vector<int>{2, 1, 1}, std::vector<int>{2, 2},
                                         std::vector<int>{3}));

TEST(PartsMistakes, AnotherCountIsFoundThoughTheFirstPartsAreAlike) {
  run_world(world_of({1, 1}), [](WorldRank& self) {
    const std::size_t count = kCount + (self.rank == 0 ? 0 : 2 * kMiB / sizeof(std::int64_t));
    Int64s values(count, 1);
    const Status status =
        wait_for(self.communicator->allreduce(values.data(), values.data(), count, kInt64, ReduceOp::kSum, {}));
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.to_string().find(std::to_string(kCount)), std::string::npos) << status.to_string();
  });
}

TEST(PartsMistakes, AnAbortEndsThePartsThatHaveNotBegun) {
  WorldOptions world = world_of({1, 1});
  Shape slow;
  slow.out.delay = std::chrono::milliseconds(20);
  slow.out.rate_bytes_per_sec = 1e6;
  world.shape = slow;
  run_world(world, [](WorldRank& self) {
    Int64s values = input_of(self.rank, kCount);
    const auto work = self.communicator->allreduce(values.data(), values.data(), kCount, kInt64, ReduceOp::kSum, {});
    if (self.rank == 0) {
      EXPECT_TRUE(self.communicator->abort("the test wants it").ok());
    }
    EXPECT_FALSE(wait_for(work).ok());
    EXPECT_FALSE(wait_for(self.communicator->barrier({})).ok());
  });
}

}  // namespace
}  // namespace isthmus
