#include "benchmarks/bench/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/device/reducible.h"

namespace isthmus::bench {
namespace {

TEST(Pattern, RanksAndSeedsDiffer) {
  const Pattern pattern = *Pattern::create(DataType::kFloat32, ReduceOp::kSum, 3);
  EXPECT_NE(pattern.of_rank(0, 1), pattern.of_rank(1, 1));
  EXPECT_NE(pattern.of_rank(0, 1), pattern.of_rank(0, 2));
  EXPECT_EQ(pattern.of_rank(0, 1), pattern.of_rank(0, 1));
}

TEST(Pattern, SumsAndAveragesAreThoseOfTheElements) {
  const auto element = [](const std::vector<std::byte>& period, std::size_t i) {
    float value = 0;
    std::memcpy(&value, period.data() + i * sizeof(value), sizeof(value));
    return value;
  };
  for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
    for (int ranks : {2, 3, 8}) {
      const Pattern pattern = *Pattern::create(DataType::kFloat32, op, ranks);
      std::vector<std::vector<std::byte>> inputs;
      for (int rank = 0; rank < ranks; ++rank) inputs.push_back(pattern.of_rank(rank, 5));
      const std::vector<std::byte> reduced = pattern.reduced(5);
      for (std::size_t i = 0; i < Pattern::kPeriod; ++i) {
        float sum = 0;
        for (const auto& input : inputs) sum += element(input, i);
        ASSERT_EQ(element(reduced, i), op == ReduceOp::kSum ? sum : sum / static_cast<float>(ranks)) << i;
      }
    }
  }
}

// A constant would hide data in the wrong place.
TEST(Pattern, ResultsVaryForEveryTypeAndOperator) {
  for (int t = 0; t < kDataTypeCount; ++t) {
    for (int o = 0; o < kReduceOpCount; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<ReduceOp>(o);
      if (!check_reducible(type, op).ok()) continue;
      const Pattern pattern = *Pattern::create(type, op, 3);
      const std::vector<std::byte> reduced = pattern.reduced(1);
      const std::size_t bytes = dtype_size_bytes(type);
      bool varies = false;
      for (std::size_t i = 1; i < Pattern::kPeriod; ++i)
        varies |= std::memcmp(reduced.data(), reduced.data() + i * bytes, bytes) != 0;
      EXPECT_TRUE(varies) << dtype_name(type) << " " << reduce_op_name(op);
    }
  }
}

TEST(Pattern, CountsEveryWrongElementOnce) {
  const Pattern pattern = *Pattern::create(DataType::kInt32, ReduceOp::kSum, 2);
  const std::vector<std::byte> period = pattern.reduced(1);
  std::vector<std::byte> buffer(4 * (Pattern::kPeriod * 2 + 100));
  pattern.fill(buffer, period, 70'000);
  EXPECT_EQ(pattern.count_wrong(buffer, period, 70'000), 0u);
  buffer[0] ^= std::byte{1};
  buffer[1] ^= std::byte{1};  // the same element
  buffer.back() ^= std::byte{1};
  EXPECT_EQ(pattern.count_wrong(buffer, period, 70'000), 2u);
  EXPECT_GT(pattern.count_wrong(buffer, period, 70'001), buffer.size() / 8);  // displaced by one element
}

TEST(Pattern, RefusesWorldsThatATypeCannotCount) {
  EXPECT_FALSE(Pattern::create(DataType::kInt8, ReduceOp::kSum, 128).ok());
  EXPECT_TRUE(Pattern::create(DataType::kInt8, ReduceOp::kSum, 127).ok());
  EXPECT_TRUE(Pattern::create(DataType::kBool, ReduceOp::kSum, 5000).ok());
}

}  // namespace
}  // namespace isthmus::bench
