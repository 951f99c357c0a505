// Types and operators through whole worlds of threads: the cases from the field (DT).
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/device/half.h"
#include "runtime/device/reducible.h"
#include "tests/support/world.h"

namespace isthmus {
namespace {

using Bytes = std::vector<std::uint8_t>;

WorldOptions three_ranks(std::vector<int> ranks_per_site = {2, 1}) {
  WorldOptions world;
  world.ranks_per_site = std::move(ranks_per_site);
  return world;
}

template <typename T>
std::vector<T> allreduced(Communicator& c, const std::vector<T>& in, DataType type, ReduceOp op,
                          const CallOptions& options = {}) {
  const std::size_t count = in.size() * sizeof(T) / dtype_size_bytes(type);
  std::vector<T> out(in.size());
  const Status status = wait_for(c.allreduce(in.data(), out.data(), count, type, op, options));
  EXPECT_TRUE(status.ok()) << status.to_string();
  return out;
}

CallOptions with_factor(double factor) {
  CallOptions options;
  options.premul_factor = factor;
  return options;
}

TEST(TypesDT01, BoolsStayBools) {
  run_world(three_ranks(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const Bytes mine = self.rank == 0 ? Bytes{1, 0, 1, 0} : Bytes{0, 0, 1, 0};
    const Bytes any{1, 0, 1, 0}, all{0, 0, 1, 0};
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kBitOr})
      EXPECT_EQ(allreduced(c, mine, DataType::kBool, op), any) << reduce_op_name(op);
    for (const ReduceOp op : {ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kBitAnd})
      EXPECT_EQ(allreduced(c, mine, DataType::kBool, op), all) << reduce_op_name(op);
    EXPECT_EQ(allreduced(c, mine, DataType::kBool, ReduceOp::kBitXor), (Bytes{1, 0, 1, 0}));
    Bytes from_root = mine, gathered(12);
    ASSERT_TRUE(wait_for(c.broadcast(from_root.data(), 4, DataType::kBool, 0, {})).ok());
    EXPECT_EQ(from_root, (Bytes{1, 0, 1, 0}));
    ASSERT_TRUE(wait_for(c.all_gather(mine.data(), gathered.data(), 4, DataType::kBool, {})).ok());
    EXPECT_EQ(gathered, (Bytes{1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}));
    Bytes at_root(12), scattered(4);
    ASSERT_TRUE(wait_for(c.gather(mine.data(), at_root.data(), 4, DataType::kBool, 1, {})).ok());
    if (self.rank == 1) {
      EXPECT_EQ(at_root, gathered);
    }
    ASSERT_TRUE(wait_for(c.scatter(gathered.data(), scattered.data(), 4, DataType::kBool, 1, {})).ok());
    EXPECT_EQ(scattered, mine);
  });
}

// Every operator on distinct values: none may become a SUM.
TEST(TypesDT03, EveryOperatorOfEveryCallIsTheOneAskedFor) {
  const std::vector<std::pair<ReduceOp, float>> expected = {{ReduceOp::kSum, 14},
                                                            {ReduceOp::kAvg, 14.0f / 3},
                                                            {ReduceOp::kMin, 2},
                                                            {ReduceOp::kMax, 7},
                                                            {ReduceOp::kProduct, 70}};
  run_world(three_ranks({1, 1, 1}), [&](WorldRank& self) {
    Communicator& c = *self.communicator;
    const std::vector<float> mine(3, std::array{2.0f, 5.0f, 7.0f}[static_cast<std::size_t>(self.rank)]);
    for (const auto& [op, value] : expected) {
      EXPECT_EQ(allreduced(c, mine, DataType::kFloat32, op), std::vector<float>(3, value)) << reduce_op_name(op);
      float block = 0;
      ASSERT_TRUE(wait_for(c.reduce_scatter(mine.data(), &block, 1, DataType::kFloat32, op, {})).ok());
      EXPECT_EQ(block, value) << reduce_op_name(op);
      std::vector<float> at_root(3);
      ASSERT_TRUE(wait_for(c.reduce(mine.data(), at_root.data(), 3, DataType::kFloat32, op, 2, {})).ok());
      if (self.rank == 2) {
        EXPECT_EQ(at_root, std::vector<float>(3, value)) << reduce_op_name(op);
      }
      const BufferPair pair{mine.data(), at_root.data(), 3, DataType::kFloat32};
      ASSERT_TRUE(wait_for(c.allreduce_coalesced({&pair, 1}, op, {})).ok());
      EXPECT_EQ(at_root, std::vector<float>(3, value)) << reduce_op_name(op);
    }
    const float factor = std::array{0.5f, 2.0f, 1.0f}[static_cast<std::size_t>(self.rank)];
    float block = 0;
    ASSERT_TRUE(wait_for(c.reduce_scatter(mine.data(), &block, 1, DataType::kFloat32, ReduceOp::kPremulSum,
                                          with_factor(factor)))
                    .ok());
    EXPECT_EQ(block, 1 + 10 + 7);
    std::vector<float> sums(3), more(3);
    ASSERT_TRUE(wait_for(c.reduce(mine.data(), sums.data(), 3, DataType::kFloat32, ReduceOp::kPremulSum, 0,
                                  with_factor(factor)))
                    .ok());
    if (self.rank == 0) {
      EXPECT_EQ(sums, std::vector<float>(3, 18));
    }
    const BufferPair pairs[] = {{mine.data(), sums.data(), 3, DataType::kFloat32},
                                {mine.data(), more.data(), 3, DataType::kFloat32}};
    ASSERT_TRUE(wait_for(c.allreduce_coalesced(pairs, ReduceOp::kPremulSum, with_factor(factor))).ok());
    EXPECT_EQ(sums, std::vector<float>(3, 18));
    EXPECT_EQ(more, std::vector<float>(3, 18));
  });
}

TEST(TypesDT05, ComplexNumbersAreSummedAndWhatIsNoOrderIsRefused) {
  using Complex = std::complex<float>;
  run_world(three_ranks(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const auto r = static_cast<float>(self.rank);
    const std::vector<Complex> mine = {{r, -r}, {1, 2}};
    EXPECT_EQ(allreduced(c, mine, DataType::kComplex64, ReduceOp::kSum), (std::vector<Complex>{{3, -3}, {3, 6}}));
    EXPECT_EQ(allreduced(c, mine, DataType::kComplex64, ReduceOp::kAvg), (std::vector<Complex>{{1, -1}, {1, 2}}));
    EXPECT_EQ(allreduced(c, mine, DataType::kComplex64, ReduceOp::kProduct)[1], Complex(-11, -2));  // (1+2i)^3
    const std::uint64_t done = self.runtime->counters().operations_completed.value();
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kBitAnd}) {
      std::vector<Complex> out(2);
      for (const auto& refused : {c.allreduce(mine.data(), out.data(), 2, DataType::kComplex64, op, {}),
                                  c.reduce(mine.data(), out.data(), 2, DataType::kComplex64, op, 0, {}),
                                  c.reduce_scatter(mine.data(), out.data(), 1, DataType::kComplex64, op, {})}) {
        EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
        EXPECT_NE(refused.status().message().find("of complex64 is not supported; complex64 reduces with sum"),
                  std::string::npos)
            << refused.status().message();
      }
    }
    // Nothing was begun, and the communicator goes on.
    EXPECT_EQ(self.runtime->counters().operations_completed.value(), done);
    ASSERT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(TypesDT07, SumsOf64BitIntegersAreExact) {
  for (const char* algorithm : {"exchange", "direct", "ring"}) {
    WorldOptions world = three_ranks({2, 1, 1});
    world.options.algorithm = algorithm;
    run_world(world, [&](WorldRank& self) {
      constexpr std::int64_t k53 = std::int64_t{1} << 53, k62 = std::int64_t{1} << 62;
      const std::int64_t values[4][2] = {{k53 + 1, k62}, {-k53, k62}, {k62, 1}, {7, 0}};
      const std::int64_t* mine = values[self.rank];
      const std::vector<std::int64_t> sums =
          allreduced(*self.communicator, std::vector<std::int64_t>(mine, mine + 2), DataType::kInt64, ReduceOp::kSum);
      EXPECT_EQ(sums[0], k62 + 8) << algorithm;
      EXPECT_EQ(sums[1], std::numeric_limits<std::int64_t>::min() + 1) << algorithm;  // wraps
    });
  }
}

TEST(TypesDT09, AverageOfHalvesNeitherOverflowsNorVanishes) {
  run_world(three_ranks({2, 2}), [](WorldRank& self) {
    const std::vector<std::uint16_t> mine = {fp16_from_float(40000), fp16_from_float(std::ldexp(1.0f, -24))};
    EXPECT_EQ(allreduced(*self.communicator, mine, DataType::kFloat16, ReduceOp::kAvg), mine);
    const auto sums = allreduced(*self.communicator, mine, DataType::kFloat16, ReduceOp::kSum);
    EXPECT_EQ(float_from_fp16(sums[0]), std::numeric_limits<float>::infinity());
    EXPECT_EQ(float_from_fp16(sums[1]), std::ldexp(1.0f, -22));
  });
}

// A block alone, four times in a larger buffer, beside other communicators, and in a world that was started anew.
TEST(TypesDT12, SameBytesWhereverTheBlockLiesAndAfterARestart) {
  constexpr std::size_t kBlock = 5003;
  std::vector<std::vector<float>> results;
  for (int start = 0; start < 2; ++start) {
    WorldOptions world = three_ranks({2, 1, 1});
    world.options.chunk_bytes = world.options.segment_bytes = 4096;
    world.options.algorithm = "direct";
    std::vector<std::vector<float>> of_rank0;
    run_world(world, [&](WorldRank& self) {
      std::vector<float> block(kBlock), repeated;
      for (std::size_t i = 0; i < kBlock; ++i)
        block[i] = std::sin(static_cast<float>(i * 31 + static_cast<std::size_t>(self.rank) * 7)) * 1e3f;
      for (int k = 0; k < 4; ++k) repeated.insert(repeated.end(), block.begin(), block.end());
      Communicator& c = *self.communicator;
      std::vector<std::vector<float>> mine = {allreduced(c, block, DataType::kFloat32, ReduceOp::kSum)};
      const std::vector<float> four = allreduced(c, repeated, DataType::kFloat32, ReduceOp::kSum);
      for (std::size_t k = 0; k < 4; ++k) {
        const auto begin = four.begin() + static_cast<std::ptrdiff_t>(k * kBlock);
        mine.emplace_back(begin, begin + kBlock);
      }
      const auto first = c.split(0, self.rank, {}), second = c.split(self.rank % 2, 0, {});
      ASSERT_TRUE(first.ok() && second.ok());
      mine.push_back(allreduced(c, block, DataType::kFloat32, ReduceOp::kSum));
      mine.push_back(allreduced(**first, block, DataType::kFloat32, ReduceOp::kSum));
      if (self.rank == 0) of_rank0 = mine;
    });
    results.insert(results.end(), of_rank0.begin(), of_rank0.end());
  }
  ASSERT_EQ(results.size(), 14u);
  for (const std::vector<float>& result : results)
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), kBlock * sizeof(float)), 0);
}

TEST(TypesDT14, PremulSumIsTheWeightedSum) {
  for (const char* algorithm : {"exchange", "direct", "ring"}) {
    WorldOptions world = three_ranks({2, 1, 1});
    world.options.algorithm = algorithm;
    world.options.chunk_bytes = world.options.segment_bytes = 64 * 1024;
    run_world(world, [&](WorldRank& self) {
      constexpr std::size_t kCount = 100'003;  // scaled on the workers, too
      Communicator& c = *self.communicator;
      std::vector<float> mine(kCount);
      for (std::size_t i = 0; i < kCount; ++i) mine[i] = static_cast<float>(i % 1000) + static_cast<float>(self.rank);
      const std::vector<float> halves = allreduced(c, mine, DataType::kFloat32, ReduceOp::kPremulSum, with_factor(0.5));
      const std::vector<float> weighted =
          allreduced(c, mine, DataType::kFloat32, ReduceOp::kPremulSum, with_factor(self.rank));
      for (std::size_t i = 0; i < kCount; ++i) {
        const auto x = static_cast<float>(i % 1000);
        ASSERT_EQ(halves[i], 0.5f * (4 * x + 6)) << algorithm << " " << i;
        ASSERT_EQ(weighted[i], 6 * x + 14) << algorithm << " " << i;  // x + 1, 2(x + 2), 3(x + 3)
      }
      ASSERT_TRUE(wait_for(c.allreduce(mine.data(), mine.data(), kCount, DataType::kFloat32, ReduceOp::kPremulSum,
                                       with_factor(0.5)))
                      .ok());
      EXPECT_EQ(mine, halves) << "in place";
    });
  }
}

TEST(TypesDT14, AFactorIsNeverForgotten) {
  run_world(three_ranks(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    std::int32_t integer = 1;
    float x = 1;
    const Status integers =
        c.allreduce(&integer, &integer, 1, DataType::kInt32, ReduceOp::kPremulSum, with_factor(2)).status();
    EXPECT_EQ(integers.code(), StatusCode::kUnsupported);
    EXPECT_NE(integers.message().find("premul_sum of int32"), std::string::npos) << integers.message();
    const Status missing = c.allreduce(&x, &x, 1, DataType::kFloat32, ReduceOp::kPremulSum, {}).status();
    EXPECT_EQ(missing.code(), StatusCode::kInvalidArgument);
    const Status unused = c.allreduce(&x, &x, 1, DataType::kFloat32, ReduceOp::kSum, with_factor(2)).status();
    EXPECT_EQ(unused.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(unused.message().find("not with sum"), std::string::npos) << unused.message();
    ASSERT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(Types, Float8IsMovedAndNotReduced) {
  run_world(three_ranks(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const auto mine = static_cast<std::uint8_t>(0x80 + self.rank);
    Bytes all(3);
    for (const DataType type :
         {DataType::kFloat8E4M3FN, DataType::kFloat8E5M2, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2FNUZ}) {
      ASSERT_TRUE(wait_for(c.all_gather(&mine, all.data(), 1, type, {})).ok());
      EXPECT_EQ(all, (Bytes{0x80, 0x81, 0x82}));
      EXPECT_EQ(c.allreduce(&mine, all.data(), 1, type, ReduceOp::kSum, {}).status().code(), StatusCode::kUnsupported);
    }
  });
}

}  // namespace
}  // namespace isthmus
