#include "collectives/schedule/all_gather.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const AllGatherRequest& request) {
  return [&sites, request](int rank) {
    AllGatherRequest own = request;
    own.rank = rank;
    return build_all_gather(sites, own);
  };
}

std::vector<BufferLayout> layouts_for(const std::vector<std::size_t>& blocks, bool in_place) {
  std::vector<BufferLayout> layouts;
  const std::size_t total = std::accumulate(blocks.begin(), blocks.end(), std::size_t{0});
  std::size_t begin = 0;
  for (const std::size_t bytes : blocks) {
    layouts.push_back(in_place ? BufferLayout{begin, bytes, 0, total} : BufferLayout::apart(bytes, total));
    begin += bytes;
  }
  return layouts;
}

void run_and_compare(const Shape& shape, const std::vector<std::size_t>& blocks, bool in_place, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("{}, bytes {}{}", shape.name, fmt::join(blocks, "+"), in_place ? " in place" : ""));
  const SiteMap sites = shape.sites();
  std::vector<Buffer> inputs;
  Buffer expected;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    inputs.push_back(random_bits(blocks[rank], seed * 100 + rank));
    expected.insert(expected.end(), inputs.back().begin(), inputs.back().end());
  }
  const auto build = builder_of(sites, {.block_bytes = blocks, .chunk_bytes = 70});
  for (const Buffer& output : run_world(sites, layouts_for(blocks, in_place), build, inputs, seed))
    ASSERT_EQ(output, expected);
}

TEST(AllGather, EveryRankHasAllBlocksInRankOrder) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const std::size_t bytes : lengths_for(shape, 331))
      for (const bool in_place : {false, true})
        run_and_compare(shape, equal_blocks(shape.sites(), bytes), in_place, ++seed);
    if (HasFailure()) return;
  }
}

TEST(AllGather, BlocksMayDifferInSize) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const bool in_place : {false, true})
      run_and_compare(shape, uneven_blocks(shape.sites(), 400, ++seed), in_place, 5);
    if (HasFailure()) return;
  }
}

TEST(AllGather, EachBlockCrossesTheWanOncePerOtherSite) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const std::vector<Schedule> schedules =
      build_all(sites, builder_of(sites, {.block_bytes = equal_blocks(sites, 1000), .chunk_bytes = 64}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{2 * 2000, 2 * 3000, 2 * 1000}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

}  // namespace
}  // namespace isthmus::testing
