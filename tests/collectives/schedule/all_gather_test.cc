#include "collectives/schedule/all_gather.h"

#include <gtest/gtest.h>

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

std::vector<BufferLayout> layouts_for(int ranks, std::size_t bytes, bool in_place) {
  std::vector<BufferLayout> layouts;
  const std::size_t total = bytes * static_cast<std::size_t>(ranks);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    layouts.push_back(in_place ? BufferLayout{rank * bytes, bytes, 0, total} : BufferLayout::apart(bytes, total));
  }
  return layouts;
}

TEST(AllGather, EveryRankHasAllBlocksInRankOrder) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    for (const std::size_t bytes : lengths_for(shape, 331)) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(shape.name + ", bytes " + std::to_string(bytes) + (in_place ? " in place" : ""));
        std::vector<Buffer> inputs;
        Buffer expected;
        for (int rank = 0; rank < sites.size(); ++rank) {
          inputs.push_back(random_bits(bytes, ++seed));
          expected.insert(expected.end(), inputs.back().begin(), inputs.back().end());
        }
        const auto build = builder_of(sites, {.bytes_per_rank = bytes, .chunk_bytes = 70});
        for (const Buffer& output : run_world(sites, layouts_for(sites.size(), bytes, in_place), build, inputs, seed)) {
          ASSERT_EQ(output, expected);
        }
      }
    }
  }
}

TEST(AllGather, EachBlockCrossesTheWanOncePerOtherSite) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const std::vector<Schedule> schedules =
      build_all(sites, builder_of(sites, {.bytes_per_rank = 1000, .chunk_bytes = 64}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{2 * 2000, 2 * 3000, 2 * 1000}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

}  // namespace
}  // namespace isthmus::testing
