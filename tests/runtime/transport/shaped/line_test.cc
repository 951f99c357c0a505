#include "runtime/transport/shaped/line.h"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::seconds(5)};

TEST(ShapedLine, IsTransparentWithoutAShape) {
  ShapedLine line(1);
  EXPECT_EQ(line.admit(1'000'000, kStart, {}), kStart);
}

TEST(ShapedLine, SendsOneMessageAfterTheOther) {
  ShapedLine line(1);
  DirectionShape shape;
  shape.delay = milliseconds(30);
  shape.rate_bytes_per_sec = 1e6;
  EXPECT_EQ(line.admit(1000, kStart, shape), kStart + milliseconds(31));
  EXPECT_EQ(line.admit(2000, kStart, shape), kStart + milliseconds(33));
  EXPECT_EQ(line.admit(1000, kStart + microseconds(500), shape), kStart + milliseconds(34));
  EXPECT_EQ(line.admit(1000, kStart + milliseconds(100), shape), kStart + milliseconds(131)) << "the line was idle";
}

TEST(ShapedLine, JitterStaysInItsRange) {
  ShapedLine line(2);
  DirectionShape shape;
  shape.delay = milliseconds(10);
  shape.jitter = milliseconds(4);
  Duration least = milliseconds(100), most{0};
  for (int i = 0; i < 1000; ++i) {
    const Duration took = line.admit(1, kStart, shape) - kStart;
    least = std::min(least, took);
    most = std::max(most, took);
  }
  EXPECT_GE(least, milliseconds(10));
  EXPECT_LT(least, microseconds(10'100));
  EXPECT_LT(most, milliseconds(14));
  EXPECT_GT(most, microseconds(13'900));
}

TEST(ShapedLine, LosesTheGivenShare) {
  ShapedLine line(3);
  DirectionShape shape;
  shape.loss = 0.1;
  shape.loss_delay = milliseconds(50);
  int lost = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Duration took = line.admit(1, kStart, shape) - kStart;
    ASSERT_TRUE(took == Duration(0) || took == milliseconds(50));
    if (took != Duration(0)) ++lost;
  }
  EXPECT_GT(lost, 900);
  EXPECT_LT(lost, 1100);
}

TEST(ShapedLine, EqualSeedsGiveEqualTimes) {
  DirectionShape shape;
  shape.jitter = milliseconds(5);
  shape.loss = 0.3;
  const auto times = [&shape](std::uint64_t seed) {
    ShapedLine line(seed);
    std::vector<TimePoint> due;
    for (int i = 0; i < 50; ++i) due.push_back(line.admit(1, kStart, shape));
    return due;
  };
  EXPECT_EQ(times(4), times(4));
  EXPECT_NE(times(4), times(5));
}

}  // namespace
}  // namespace isthmus
