#include "runtime/transport/shaped/lane.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

constexpr TimePoint kStart{std::chrono::seconds(5)};

TEST(ShapedBuffers, AreUsedAgain) {
  ShapedBuffers buffers;
  const std::vector<std::byte> first(10, std::byte{1}), second(20, std::byte{2});
  const std::size_t a = buffers.copy(first), b = buffers.copy(second);
  EXPECT_NE(a, b);
  EXPECT_EQ(buffers.bytes(a).size(), 10u);
  EXPECT_EQ(buffers.bytes(b).size(), 20u);
  buffers.release(a);
  EXPECT_EQ(buffers.copy(second), a);
  EXPECT_EQ(buffers.bytes(a).size(), 20u);
}

TEST(ShapedLane, NoEventOvertakesAnother) {
  ShapedLane lane;
  lane.id = 3;
  lane.push_in({}, kStart + Duration(10));
  lane.push_in({}, kStart);
  EXPECT_EQ(lane.in_due(), kStart + Duration(10));
  EXPECT_EQ(lane.in.pop().event.lane, 3u);
  EXPECT_EQ(lane.in_due(), kStart + Duration(10));
  EXPECT_FALSE(lane.in_ready(kStart));
  EXPECT_TRUE(lane.in_ready(kStart + Duration(10)));
}

TEST(ShapedLane, WaitsForTheInnerLane) {
  ShapedLane lane;
  EXPECT_EQ(lane.out_due(), kNever);
  lane.out.push({0, kStart});
  EXPECT_EQ(lane.out_due(), kNever) << "the inner lane is not up";
  lane.inner_up = true;
  EXPECT_EQ(lane.out_due(), kStart);
  lane.out_not_before = kStart + Duration(5);
  EXPECT_EQ(lane.out_due(), kStart + Duration(5));
  lane.inner_full = true;
  EXPECT_EQ(lane.out_due(), kNever);
}

}  // namespace
}  // namespace isthmus
