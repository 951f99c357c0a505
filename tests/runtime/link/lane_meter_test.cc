#include "runtime/link/lane_meter.h"

#include <gtest/gtest.h>

#include <deque>

namespace isthmus {
namespace {

using namespace std::chrono_literals;

// A lane of some rate and delay that is kept full: as much is under way as its meter allows.
class FullLane {
 public:
  FullLane(const LaneLimits& limits, double bytes_per_sec, Duration delay)
      : meter(limits), bytes_per_sec_(bytes_per_sec), delay_(delay) {}

  void run(Duration time) {
    const TimePoint end = now + time;
    while (now < end) {
      while (meter.has_room()) depart();
      const auto [departed, arrives, bytes] = under_way_.front();
      under_way_.pop_front();
      now = std::max(now, arrives);
      meter.arrive(departed, bytes, now);
    }
  }

  LaneMeter meter;
  TimePoint now{1s};

 private:
  struct Segment {
    TimePoint departed, arrives;
    std::size_t bytes;
  };

  void depart() {
    const std::size_t bytes = meter.segment_bytes();
    busy_until_ = std::max(now, busy_until_) + Duration(static_cast<std::int64_t>(1e9 * bytes / bytes_per_sec_));
    under_way_.push_back({now, busy_until_ + delay_, bytes});
    meter.depart(bytes);
  }

  const double bytes_per_sec_;
  const Duration delay_;
  TimePoint busy_until_{};
  std::deque<Segment> under_way_;
};

TEST(LaneMeter, TheWindowGrowsUntilItFillsTheLaneAndNoFurther) {
  FullLane lane({64 << 20, 16 << 10, 256 << 10}, 25e6, 60ms);
  lane.run(5s);
  const double product = 25e6 * 0.060;
  EXPECT_GE(lane.meter.window_bytes(), 2.0 * product);
  EXPECT_LE(lane.meter.window_bytes(), 3.5 * product);
  EXPECT_GE(lane.meter.round_trip(), 60ms);
  EXPECT_LE(lane.meter.round_trip(), 70ms);
}

TEST(LaneMeter, AWindowIsNeverMoreThanTheLimitNorLessThanAFewSegments) {
  FullLane fast({1 << 20, 16 << 10, 256 << 10}, 1e9, 60ms);
  fast.run(3s);
  EXPECT_EQ(fast.meter.window_bytes(), 1u << 20);
  FullLane slow({64 << 20, 16 << 10, 256 << 10}, 50e3, 10ms);
  slow.run(60s);
  EXPECT_EQ(slow.meter.window_bytes(), 4u * (16 << 10));
  EXPECT_EQ(slow.meter.segment_bytes(), 16u << 10);
}

TEST(LaneMeter, SegmentsGrowWithTheWindow) {
  FullLane lane({64 << 20, 16 << 10, 256 << 10}, 125e6, 60ms);
  EXPECT_EQ(lane.meter.segment_bytes(), 16u << 10);
  lane.run(3s);
  EXPECT_EQ(lane.meter.segment_bytes(), 256u << 10);
}

TEST(LaneMeter, AnIdleLaneKeepsItsWindow) {
  FullLane lane({64 << 20, 16 << 10, 256 << 10}, 25e6, 60ms);
  lane.run(5s);
  LaneMeter& meter = lane.meter;
  meter.forget(meter.in_flight_bytes());
  const std::uint64_t window = meter.window_bytes();
  meter.depart(1000);
  meter.arrive(lane.now, 1000, lane.now + 60ms);  // ends the epoch in which the lane was full
  for (int i = 0; i < 100; ++i) {
    lane.now += 1s;
    meter.depart(1000);
    meter.arrive(lane.now, 1000, lane.now + 60ms);
  }
  EXPECT_GE(2 * meter.window_bytes(), window);
  EXPECT_EQ(meter.in_flight_bytes(), 0u);
}

TEST(LaneMeter, OverdueIsWhatTookLongerThanThisLaneDoes) {
  LaneMeter meter({});
  const TimePoint start(1s);
  EXPECT_EQ(meter.overdue_at(start), start + 1s) << "nothing is known yet";
  for (int i = 0; i < 100; ++i) {
    meter.depart(1000);
    meter.arrive(start + i * 100ms, 1000, start + i * 100ms + 50ms);
  }
  EXPECT_GE(meter.overdue_at(start), start + 70ms);
  EXPECT_LE(meter.overdue_at(start), start + 80ms);
}

TEST(LaneMeter, WhatAnotherLaneTookOverCountsNoLonger) {
  LaneMeter meter({});
  meter.depart(1 << 20);
  EXPECT_FALSE(meter.has_room());
  EXPECT_GT(meter.fullness(), 1);
  meter.forget(1 << 20);
  EXPECT_TRUE(meter.has_room());
  EXPECT_EQ(meter.round_trip(), Duration(0));
}

}  // namespace
}  // namespace isthmus
