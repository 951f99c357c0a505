#include "collectives/schedule/broadcast.h"

#include <gtest/gtest.h>

#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const BroadcastRequest& request) {
  return [&sites, request](int rank) {
    BroadcastRequest own = request;
    own.rank = rank;
    return build_broadcast(sites, own);
  };
}

TEST(Broadcast, EveryRankHasTheBytesOfEveryRoot) {
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    std::uint64_t seed = 1;
    for (const std::size_t bytes : lengths_for(shape, 1009)) {
      for (int root = 0; root < sites.size(); root += 1 + sites.size() / 5) {
        SCOPED_TRACE(shape.name + ", root " + std::to_string(root) + ", bytes " + std::to_string(bytes));
        std::vector<Buffer> buffers(static_cast<std::size_t>(sites.size()), Buffer(bytes));
        buffers[static_cast<std::size_t>(root)] = random_bits(bytes, ++seed);
        const std::vector<BufferLayout> layouts(buffers.size(), BufferLayout::in_place(bytes));
        const auto build = builder_of(sites, {.root = root, .bytes = bytes, .chunk_bytes = 100});
        for (const Buffer& output : run_world(sites, layouts, build, buffers, seed)) {
          ASSERT_EQ(output, buffers[static_cast<std::size_t>(root)]);
        }
      }
    }
  }
}

TEST(Broadcast, CrossesTheWanOncePerSiteInOneTrip) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const std::vector<Schedule> schedules =
      build_all(sites, builder_of(sites, {.root = 3, .bytes = 5000, .chunk_bytes = 64}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{0, 2 * 5000, 0}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

TEST(Broadcast, TheRootOnlyReadsItsBuffer) {
  const SiteMap sites({0, 0, 1});
  for (const Step& step : build_broadcast(sites, {.rank = 1, .root = 1, .bytes = 10}).steps) {
    EXPECT_EQ(step.kind, StepKind::kSend);
  }
}

}  // namespace
}  // namespace isthmus::testing
