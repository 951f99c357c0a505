#include "collectives/schedule/chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace isthmus {
namespace {

TEST(Chunks, EvenPartsCoverTheWholeAndDifferByOne) {
  for (std::size_t size : {0, 1, 6, 7, 8, 1000003}) {
    for (std::size_t parts : {1, 2, 7, 64}) {
      std::size_t next = 5;
      for (std::size_t i = 0; i < parts; ++i) {
        const Range part = split_evenly({5, size}, parts, i);
        EXPECT_EQ(part.begin, next);
        EXPECT_GE(part.size, size / parts);
        EXPECT_LE(part.size, size / parts + 1);
        next = part.end();
      }
      EXPECT_EQ(next, 5 + size);
    }
  }
}

TEST(Chunks, WeightsGiveShares) {
  const std::vector<std::uint32_t> weights = {3, 0, 1, 4};
  const std::vector<Range> parts = split_by_weight({100, 1003}, weights);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[1].size, 0u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(parts[i].size), 1003.0 * weights[i] / 8, 1.0);
    EXPECT_EQ(parts[i].begin, i == 0 ? 100 : parts[i - 1].end());
  }
  EXPECT_EQ(parts[3].end(), 1103u);
}

TEST(Chunks, EqualWeightsDifferByOneAndHugeOnesDoNotOverflow) {
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const std::size_t size = (std::size_t{1} << 60) + 1;
  for (const Range& part : split_by_weight({0, size}, std::vector<std::uint32_t>(3, most))) {
    EXPECT_GE(part.size, size / 3);
    EXPECT_LE(part.size, size / 3 + 1);
  }
}

TEST(Chunks, AChunkHoldsAtLeastOneElementAndTheirNumberIsBounded) {
  EXPECT_EQ(chunk_elements(1000, 4, 256), 64u);
  EXPECT_EQ(chunk_elements(1000, 8, 7), 1u);
  EXPECT_EQ(chunk_elements(0, 4, 256), 64u);
  const std::size_t huge = std::size_t{1} << 40;
  EXPECT_LE(chunk_count(huge, chunk_elements(huge, 1, 16)), kMaxChunks);
  EXPECT_EQ(chunk_count(0, 64), 0u);
  EXPECT_EQ(chunk_count(64, 64), 1u);
  EXPECT_EQ(chunk_count(65, 64), 2u);
}

TEST(Chunks, CoverEveryElementOnceWithDistinctNumbers) {
  const std::vector<std::uint32_t> weights = {1, 5, 2};
  std::vector<Chunk> chunks = cut_chunks(1009, 4, weights, 10, 1);
  std::set<std::uint32_t> numbers;
  for (const Chunk& chunk : chunks) numbers.insert(chunk.number);
  EXPECT_EQ(numbers.size(), chunks.size());
  EXPECT_EQ(*numbers.rbegin(), chunks.size() - 1);
  std::ranges::sort(chunks, {}, [](const Chunk& chunk) { return chunk.range.begin; });
  std::size_t next = 0;
  for (const Chunk& chunk : chunks) {
    EXPECT_EQ(chunk.range.begin, next);
    EXPECT_GE(chunk.range.size, 1u);
    EXPECT_LE(chunk.range.size, 10u);
    next = chunk.range.end();
  }
  EXPECT_EQ(next, 1009u);
}

TEST(Chunks, TheFirstOwnerChangesTheOrderOnly) {
  const std::vector<std::uint32_t> weights = {1, 1, 1};
  const std::vector<Chunk> from_0 = cut_chunks(90, 2, weights, 5, 0);
  const std::vector<Chunk> from_2 = cut_chunks(90, 2, weights, 5, 5);  // modulo 3
  ASSERT_EQ(from_0.size(), from_2.size());
  EXPECT_EQ(from_0.front().owner, 0);
  EXPECT_EQ(from_2.front().owner, 2);
  for (const Chunk& chunk : from_0) {
    const auto same = std::ranges::find(from_2, chunk.number, &Chunk::number);
    ASSERT_NE(same, from_2.end());
    EXPECT_EQ(same->range.begin, chunk.range.begin);
    EXPECT_EQ(same->owner, chunk.owner);
    EXPECT_EQ(same->shard, chunk.shard);
  }
  // The first chunks of all six blocks come before the second of any.
  std::set<std::pair<int, int>> blocks;
  for (std::size_t i = 0; i < 6; ++i) blocks.emplace(from_0[i].shard, from_0[i].owner);
  EXPECT_EQ(blocks.size(), 6u);
}

TEST(Chunks, FewerElementsThanBlocks) {
  EXPECT_TRUE(cut_chunks(0, 4, std::vector<std::uint32_t>{1, 1}, 10, 0).empty());
  EXPECT_EQ(cut_chunks(3, 4, std::vector<std::uint32_t>{1, 1}, 10, 0).size(), 3u);
}

}  // namespace
}  // namespace isthmus
