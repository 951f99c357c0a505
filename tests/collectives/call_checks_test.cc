#include "collectives/call_checks.h"

#include <gtest/gtest.h>

#include <array>

namespace isthmus {
namespace {

TEST(CallChecks, BuffersMayBeApartOrExactlyInPlace) {
  std::array<char, 64> memory{};
  char* const at = memory.data();
  EXPECT_TRUE(check_overlap("x", at, 8, at + 8, 8, 0).ok());
  EXPECT_TRUE(check_overlap("x", at, 8, at, 8, 0).ok());
  EXPECT_TRUE(check_overlap("x", at + 16, 8, at, 32, -16).ok());
  EXPECT_FALSE(check_overlap("x", at + 15, 8, at, 32, -16).ok());
  EXPECT_TRUE(check_overlap("x", at + 15, 0, at, 32, -16).ok());
  EXPECT_TRUE(check_apart("x", at, 8, at + 8, 8).ok());
  EXPECT_FALSE(check_apart("x", at, 8, at, 8).ok());
}

TEST(CallChecks, CountsAreOnePerRankAndFitMemory) {
  const auto check = [](std::vector<std::size_t> counts) {
    return check_block_counts("x", Counts::each(counts), 2, DataType::kInt32);
  };
  EXPECT_TRUE(check({0, 5}).ok());
  EXPECT_FALSE(check({5}).ok());
  EXPECT_FALSE(check({SIZE_MAX / 16, SIZE_MAX / 9}).ok());
  EXPECT_FALSE(check({1, SIZE_MAX}).ok());
}

TEST(CallChecks, BlockBytesAsARankSeesThem) {
  const std::vector<std::size_t> counts = {1, 0, 3};
  const BlockBytes bytes(Counts::each(counts), 2, DataType::kInt16);
  EXPECT_EQ(bytes.of_rank, (std::vector<std::size_t>{2, 0, 6}));
  EXPECT_EQ(bytes.total, 8u);
  EXPECT_EQ(bytes.own, 6u);
  EXPECT_EQ(bytes.before_own, 2u);
}

}  // namespace
}  // namespace isthmus
