#include "collectives/schedule/blocks.h"

#include <gtest/gtest.h>

#include <set>

namespace isthmus {
namespace {

TEST(Blocks, LieOneAfterTheOtherAndChunksCoverThem) {
  const std::vector<std::size_t> counts = {5, 0, 17, 1};
  const Blocks blocks(counts, 4, 16);
  EXPECT_EQ(blocks.total(), 23u);
  EXPECT_EQ(blocks.max_chunks(), 5u);
  EXPECT_EQ(blocks.all_chunks(), 2u + 0u + 5u + 1u);
  std::size_t at = 0;
  std::set<std::uint32_t> rounds;
  for (int rank = 0; rank < 4; ++rank) {
    std::size_t in_block = 0;
    for (std::size_t index = 0; index < blocks.chunks(rank); ++index) {
      EXPECT_EQ(blocks.in_buffer(rank, index).begin, at);
      EXPECT_EQ(blocks.in_block(rank, index).begin, in_block);
      EXPECT_LE(blocks.in_block(rank, index).size, 4u);
      at = blocks.in_buffer(rank, index).end();
      in_block = blocks.in_block(rank, index).end();
      EXPECT_TRUE(rounds.insert(blocks.round(rank, index, Phase::kFinal)).second);
    }
    EXPECT_EQ(in_block, counts[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(at, blocks.total());
}

TEST(Blocks, ChunksGrowWhereTheirNumbersWouldNotSuffice) {
  const std::vector<std::size_t> counts = {std::size_t{1} << 50, 3, std::size_t{1} << 40};
  EXPECT_LE(Blocks(counts, 1, 4096).all_chunks(), kMaxChunks);
}

}  // namespace
}  // namespace isthmus
