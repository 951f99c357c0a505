// A pacer over a simulated line: a queue that empties at a rate, a delay, and a peer that reports both. What may be
// under way is bounded as on one lane.
#include "runtime/link/pacer.h"

#include <gtest/gtest.h>

#include <deque>

#include "runtime/link/lane_meter.h"

namespace isthmus {
namespace {

using namespace std::chrono_literals;

class PacedLine {
 public:
  double bytes_per_sec = 12.5e6;
  Duration delay = 30ms;  // one way
  bool is_busy = true;
  std::int64_t to_send = 0;  // though it is not busy
  double fairness = 1;
  Pacer pacer;
  TimePoint now{1s};

  Duration queue() const { return std::max(Duration(0), busy_until_ - now); }
  double rate_over(Duration time) {
    const double before = delivered_;
    run(time);
    return (delivered_ - before) / to_seconds(time);
  }

  void run(Duration time) {
    for (const TimePoint end = now + time; now < end; now += 1ms) {
      collect();
      send();
      if (pacer.is_epoch_over(2 * delay, now)) {
        pacer.note_retransmissions(overruns_);
        if (pacer.end_epoch(meter_.has_queue() ? meter_.queue() : Duration(-1), 2 * delay, fairness, now))
          meter_.take_as_base();
        meter_.next_epoch();
      }
    }
  }

 private:
  static constexpr std::size_t kSegment = 16 * 1024;
  struct Segment {
    TimePoint departed, acknowledged;
    Duration one_way;
  };

  void collect() {
    while (!under_way_.empty() && under_way_.front().acknowledged <= now) {
      const auto us = std::chrono::duration_cast<std::chrono::microseconds>(under_way_.front().one_way).count();
      meter_.report(static_cast<std::uint32_t>(us + 5'000'000'000), now);  // the peer's clock is another
      pacer.arrived(kSegment);
      lane_.arrive(under_way_.front().departed, kSegment, now);
      delivered_ += kSegment;
      under_way_.pop_front();
    }
  }

  void send() {
    while ((is_busy || to_send > 0) && pacer.may_send(now) && lane_.has_room()) {
      busy_until_ = std::max(busy_until_, now) + Duration(static_cast<std::int64_t>(1e9 * kSegment / bytes_per_sec));
      const Duration one_way = busy_until_ + delay - now;
      const TimePoint after = under_way_.empty() ? TimePoint{} : under_way_.back().acknowledged;
      under_way_.push_back({now, std::max(after, now + one_way + delay), one_way});
      lane_.depart(kSegment);
      if (queue() > 2 * delay) ++overruns_;
      to_send -= is_busy ? 0 : static_cast<std::int64_t>(kSegment);
      pacer.sent(kSegment, now);
    }
    pacer.note_load(is_busy || to_send > 0, kSegment * under_way_.size());
  }

  LaneDelayMeter meter_;
  LaneMeter lane_{LaneLimits{}};
  TimePoint busy_until_{};
  std::deque<Segment> under_way_;
  double delivered_ = 0;
  std::uint64_t overruns_ = 0;  // its buffer is a round trip long; what exceeds it arrives all the same, but is counted
};

TEST(Pacer, TheFirstAcknowledgementAloneMakesNoPace) {
  Pacer pacer;
  TimePoint now{10s};
  pacer.end_epoch(0ms, 200ms, 1, now);
  pacer.note_load(true, 0);
  pacer.arrived(1000);
  now += 200ms;
  EXPECT_FALSE(pacer.is_epoch_over(200ms, now));
  EXPECT_EQ(pacer.bytes_per_sec(), 0);
  pacer.arrived(500'000);
  now += 200ms;
  ASSERT_TRUE(pacer.is_epoch_over(200ms, now));
  pacer.end_epoch(0ms, 200ms, 1, now);
  EXPECT_GT(pacer.bytes_per_sec(), 1e6);
}

TEST(Pacer, ALongFastLineIsFullAfterSomeRoundTrips) {
  PacedLine line;
  line.bytes_per_sec = 31.25e6;
  line.delay = 100ms;
  line.run(6s);
  EXPECT_GT(line.rate_over(2s), 0.85 * line.bytes_per_sec);
}

TEST(Pacer, FindsTheRateOfTheLineAndKeepsItsQueueShort) {
  PacedLine line;
  line.run(10s);
  double rate = 0, longest = 0, sum = 0;
  for (int i = 0; i < 1000; ++i) {
    rate += line.rate_over(10ms) / 1000;
    longest = std::max(longest, to_seconds(line.queue()));
    sum += to_seconds(line.queue());
  }
  EXPECT_GE(rate, 0.9 * line.bytes_per_sec);
  EXPECT_NEAR(line.pacer.bytes_per_sec(), line.bytes_per_sec, 0.1 * line.bytes_per_sec);
  EXPECT_LE(longest, 0.070);
  EXPECT_LE(sum / 1000, 0.025) << "the target is 15 ms";
}

TEST(Pacer, SpeedsUpWhenTheLineGetsFaster) {
  PacedLine line;
  line.run(10s);
  line.bytes_per_sec *= 3;
  line.run(10s);
  EXPECT_GE(line.rate_over(10s), 0.85 * line.bytes_per_sec);
}

TEST(Pacer, SlowsDownWhenTheLineGetsSlower) {
  PacedLine line;
  line.run(10s);
  line.bytes_per_sec /= 4;
  line.run(10s);
  EXPECT_GE(line.rate_over(10s), 0.9 * line.bytes_per_sec);
  EXPECT_LE(line.pacer.bytes_per_sec(), 1.6 * line.bytes_per_sec);
  EXPECT_LE(line.queue(), 150ms);
}

// What queued at most, of the last bursts.
double longest_queue(PacedLine& line, std::int64_t burst_bytes) {
  line.is_busy = false;
  double longest = 0;
  for (int burst = 0; burst < 20; ++burst) {
    line.to_send = burst_bytes;
    for (int i = 0; i < 1000; ++i) {
      line.run(1ms);
      if (burst >= 10) longest = std::max(longest, to_seconds(line.queue()));
    }
  }
  return longest;
}

TEST(Pacer, LearnsFromBurstsThatOverrunTheQueue) {
  PacedLine line;
  EXPECT_LE(longest_queue(line, 4 << 20), 0.060) << "it would be 0.27 s without a pace";
  EXPECT_GE(line.pacer.bytes_per_sec(), 0.8 * line.bytes_per_sec);
}

TEST(Pacer, BurstsAreLeftAloneUntilPacketsAreLost) {
  for (const bool loses : {false, true}) {
    Pacer pacer;
    TimePoint now{10s};
    for (int epoch = 0; epoch < 4; ++epoch) {  // 1 MiB/s arrives through a queue of 50 ms
      pacer.note_load(false, 100'000);
      pacer.arrived(100 << 10);
      now += 100ms;
      ASSERT_TRUE(pacer.is_epoch_over(100ms, now));
      pacer.note_retransmissions(loses && epoch > 0 ? 7 : 0);
      pacer.end_epoch(50ms, 100ms, 1, now);
    }
    EXPECT_EQ(pacer.bytes_per_sec() > 0, loses);
    EXPECT_LE(pacer.bytes_per_sec(), 1 << 20);
  }
}

TEST(Pacer, AimsAtAShorterQueueWhenItHasMoreThanItsFairPart) {
  double mean[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    PacedLine line;
    line.fairness = i == 0 ? 0.5 : 1;
    line.run(10s);
    for (int k = 0; k < 1000; ++k, line.run(10ms)) mean[i] += to_seconds(line.queue()) / 1000;
  }
  EXPECT_LT(mean[0], 0.75 * mean[1]);
}

TEST(Pacer, TakesAtOnceWhatOtherLinksNoLongerUse) {
  PacedLine line;
  line.run(10s);
  line.bytes_per_sec *= 3;
  line.fairness = 3;
  line.run(1s);
  EXPECT_GE(line.rate_over(1s), 0.85 * line.bytes_per_sec);
}

TEST(Pacer, DelayThatIsThePathsOwnDoesNotStarveTheLink) {
  PacedLine line;
  line.run(10s);
  line.delay += 40ms;  // another route
  line.run(30s);
  EXPECT_GE(line.rate_over(10s), 0.7 * line.bytes_per_sec);
}

TEST(Pacer, SaysNothingWhileTheLinkIsIdle) {
  PacedLine line;
  line.run(10s);
  line.is_busy = false;
  line.run(1s);
  const double pace = line.pacer.bytes_per_sec();
  line.run(60s);
  EXPECT_EQ(line.pacer.bytes_per_sec(), pace);
  EXPECT_TRUE(line.pacer.may_send(line.now));
}

TEST(Pacer, HoldsNothingBackBeforeAnythingArrived) {
  Pacer pacer;
  const TimePoint now(1s);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(pacer.may_send(now));
    pacer.sent(1 << 20, now);
  }
  EXPECT_EQ(pacer.bytes_per_sec(), 0);
}

TEST(LaneDelayMeter, TheQueueIsWhatExceedsTheLeastEverAndClocksMayDriftOrWrap) {
  LaneDelayMeter meter;
  TimePoint now(1s);
  EXPECT_FALSE(meter.has_queue());
  meter.report(0xfffffff0u, now);
  EXPECT_EQ(meter.queue(), Duration(0));
  meter.next_epoch();
  EXPECT_FALSE(meter.has_queue());
  meter.report(0x00002000u, now);  // wrapped: 8208 us more
  meter.report(0x00001000u, now);
  EXPECT_EQ(meter.queue(), 4112us) << "the least of the epoch";
  meter.next_epoch();
  now += 10s;
  meter.report(0x00001000u, now);
  EXPECT_EQ(meter.queue(), 3112us) << "the base rises by 0.1 ms per second";
  meter.take_as_base();
  EXPECT_EQ(meter.queue(), Duration(0));
}

}  // namespace
}  // namespace isthmus
