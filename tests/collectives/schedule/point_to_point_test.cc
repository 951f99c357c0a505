#include "collectives/schedule/point_to_point.h"

#include <gtest/gtest.h>

#include "tests/collectives/schedule/world.h"

namespace isthmus::testing {
namespace {

TEST(PointToPoint, MovesTheInputToTheOutput) {
  const SiteMap sites({0, 1});
  for (const std::size_t bytes : {0, 1, 1'000'000}) {
    const auto build = [&](int rank) { return rank == 0 ? build_send(1, bytes) : build_receive(0, bytes); };
    const std::vector<Buffer> inputs = {random_bits(bytes, 5), {}};
    const auto outputs =
        run_world(sites, {BufferLayout::apart(bytes, 0), BufferLayout::apart(0, bytes)}, build, inputs, 1);
    EXPECT_EQ(outputs[1], inputs[0]);
  }
}

TEST(PointToPoint, AnEmptyMessageIsATransfer) {
  EXPECT_EQ(build_send(1, 0).steps.size(), 1u);
  EXPECT_EQ(build_receive(1, 0).steps.size(), 1u);
}

}  // namespace
}  // namespace isthmus::testing
