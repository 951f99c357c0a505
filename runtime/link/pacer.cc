#include "runtime/link/pacer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace isthmus {
namespace {

// The queue to hold: enough to bridge the jitter of threads and paths, less than the buffers of common lines (50 ms).
constexpr Duration kLeastQueue = std::chrono::milliseconds(4), kMostQueue = std::chrono::milliseconds(15);
constexpr double kQueuePerRoundTrip = 0.25;
constexpr double kLeastFairness = 0.5, kMostFairness = 2;
constexpr Duration kLeastEpoch = std::chrono::milliseconds(50), kLeastStartEpoch = std::chrono::milliseconds(20);
// While starting, per round trip: what overshoots before the queue is seen fits into the buffers of common lines.
constexpr double kStartGrowth = 1.5;
// The first pace is made of at least so much, or of a second: the first acknowledgement alone says nothing of the line.
constexpr std::uint64_t kFirstBytes = 64 * 1024;
constexpr Duration kFirstEpoch = std::chrono::seconds(1);
// Less than this under way may be gone from the line before it is acknowledged.
constexpr std::uint64_t kBusyBytes = 32 * 1024;
// What arrives may lag so far behind the pace before that is TCP's doing and not the pace's.
constexpr double kFollows = 0.25;
// A queue of ours holds back what it is made of. Where this share of the pace arrived all the same, it may have been a
// stall of a thread or of the path, and is believed at the second time.
constexpr double kArrivesInFull = 0.9;
// Less than this share of the pace arrives in a stall: that says nothing about the line.
constexpr double kStalled = 0.25;
// A line that has carried so much more than was thought is another one, or was never busy before.
constexpr double kAnotherLine = 1.25;
// Above the rate that the line has shown a faster one is probed for: per epoch, twice as much after some without a
// queue.
constexpr double kFirstGrowth = 0.005, kMostGrowth = 0.03, kMostGrowthAnew = 0.12, kMostShrinkage = 0.3;
constexpr int kQuietEpochs = 4;
// Per epoch, of what other links no longer use.
constexpr double kMostHandover = 1.25;
// A stall and the burst after it average out over so many epochs.
constexpr double kRateMemory = 8;
// Segments may leave this late together, for the thread wakes up by the millisecond.
constexpr Duration kCatchUp = std::chrono::milliseconds(5);
// However low the pace: one that was measured over a cut is none.
constexpr Duration kMostWait = std::chrono::milliseconds(250);
constexpr int kFlatEpochs = 3;
// Delay that is not our queue: it stood still for so many epochs though the pace was well below what arrives, or the
// pace fell to this share of what it was in a long slow run.
constexpr int kUnmovedEpochs = 6, kLongRun = 60;
constexpr double kStrongShrinkage = 0.15, kStarvedShare = 0.5;
constexpr Duration kMoves = std::chrono::milliseconds(5);
constexpr Duration kBaseRise = std::chrono::milliseconds(10);  // by one microsecond

Duration difference(std::uint32_t later_us, std::uint32_t earlier_us) {
  return std::chrono::microseconds(static_cast<std::int32_t>(later_us - earlier_us));
}

Duration queue_target(Duration round_trip, double fairness) {
  const Duration target =
      std::clamp(std::chrono::duration_cast<Duration>(kQueuePerRoundTrip * round_trip), kLeastQueue, kMostQueue);
  return std::chrono::duration_cast<Duration>(std::clamp(fairness, kLeastFairness, kMostFairness) * target);
}

// The part of the line's rate by which less for a round trip drains so much of the queue.
double part_that_drains(Duration excess, Duration round_trip) {
  return to_seconds(excess) / to_seconds(round_trip + kLeastEpoch);
}

}  // namespace

void LaneDelayMeter::report(std::uint32_t delay_us, TimePoint now) {
  if (!has_base_) {
    has_base_ = true;
    base_us_ = delay_us;
    raised_at_ = now;
  }
  const auto steps = (now - raised_at_) / kBaseRise;
  base_us_ += static_cast<std::uint32_t>(steps);
  raised_at_ += steps * kBaseRise;
  if (difference(delay_us, base_us_) < Duration(0)) base_us_ = delay_us;
  if (!has_delay_ || difference(delay_us, least_us_) < Duration(0)) least_us_ = delay_us;
  has_delay_ = true;
}

Duration LaneDelayMeter::queue() const { return std::max(Duration(0), difference(least_us_, base_us_)); }

void Pacer::sent(std::size_t bytes, TimePoint now) {
  if (pace_ <= 0) return;
  const double seconds = std::min(static_cast<double>(bytes) / pace_, to_seconds(kMostWait));
  const auto time = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  next_send_at_ = std::max(next_send_at_, now - kCatchUp) + time;
}

void Pacer::note_load(bool is_backlogged, std::uint64_t under_way_bytes) {
  was_idle_ |= !is_backlogged;
  was_empty_ |= !is_backlogged && under_way_bytes < kBusyBytes;
}

void Pacer::note_retransmissions(std::uint64_t packets) {
  loses_packets_ |= packets > retransmissions_;
  retransmissions_ = packets;
}

bool Pacer::is_epoch_over(Duration round_trip, TimePoint now) const {
  if (round_trip == Duration(0)) return false;
  if (pace_ == 0 && !was_idle_ && arrived_bytes_ < kFirstBytes && now - epoch_began_ < kFirstEpoch) return false;
  return now - epoch_began_ >= std::max(is_starting_ ? kLeastStartEpoch : kLeastEpoch, round_trip);
}

// What arrived in this epoch left within one burst that is long enough to tell something, and overran the queue.
bool Pacer::is_within_burst() const {
  const bool is_long = !was_empty_ && !was_empty_before_ && arrived_bytes_ >= kFirstBytes;
  return was_idle_ && is_long && loses_packets_;
}

bool Pacer::end_epoch(Duration queue, Duration round_trip, double fairness, TimePoint now) {
  const double rate = static_cast<double>(arrived_bytes_) / to_seconds(now - epoch_began_);
  const bool counts = !was_idle_ && queue >= Duration(0);
  const Duration target = queue_target(round_trip, fairness);
  bool is_base = false;
  if (counts) {
    const double pace_before = pace_;
    carried_[next_carried_++ % std::size(carried_)] = std::min((rate + last_rate_) / 2, pace_);
    const double missing = 1 - to_seconds(queue) / to_seconds(target);
    const bool is_doubted = is_starting_ && missing < 0 && rate >= kArrivesInFull * pace_ && !was_doubted_;
    was_doubted_ = is_doubted;
    if (!is_doubted && missing < 0)
      slow_down(rate, part_that_drains(queue - target, round_trip));
    else if (!is_doubted)
      speed_up(rate, missing, fairness);
    is_base = is_delay_of_path(queue, rate, pace_before);
  } else if (queue > target && is_within_burst()) {
    slow_down(rate, part_that_drains(queue - target, round_trip));
  }
  last_rate_ = was_empty_ ? 0 : rate;
  arrived_bytes_ = 0;
  was_empty_before_ = std::exchange(was_empty_, false);
  was_idle_ = false;
  epoch_began_ = now;
  return is_base;
}

// The line is busy: what arrives is what it carries. When that begins, what overran the queue may be lost and little
// arrive, so what arrived lately counts too.
void Pacer::slow_down(double rate, double excess) {
  const double carried = *std::max_element(std::begin(carried_), std::end(carried_));
  const bool is_first = slow_epochs_++ == 0;
  if (is_first) reference_ = std::max(pace_, rate);
  line_rate_ = is_first && carried > kAnotherLine * line_rate_ ? carried
               : line_rate_ == 0                               ? rate
                                                               : line_rate_ + (rate - line_rate_) / kRateMemory;
  pace_ = line_rate_ * (1 - std::min(excess, kMostShrinkage));
  is_starting_ = false;
  growth_ = kFirstGrowth;
  quiet_epochs_ = 0;
}

void Pacer::speed_up(double rate, double missing, double fairness) {
  slow_epochs_ = 0;
  if (is_starting_) {
    const bool is_followed = rate >= pace_ * (1 - kFollows);
    if (rate >= kStalled * pace_) flat_epochs_ = is_followed ? 0 : flat_epochs_ + 1;
    if (is_followed) pace_ = std::max(pace_, kStartGrowth * (pace_ > 0 ? std::min(rate, pace_) : rate));
    is_starting_ = flat_epochs_ < kFlatEpochs;
    return;
  }
  // A pace that was measured over a cut is none; nor is the burst after a stall.
  pace_ = std::max({pace_, line_rate_, std::min(rate, last_rate_) / 2});
  if (missing < 0.5 || rate < pace_ * (1 - kFollows)) return;  // a queue begins, or TCP does not follow
  pace_ *= std::max(1 + growth_, std::min(fairness, kMostHandover));
  const double most = pace_ > kAnotherLine * line_rate_ ? kMostGrowthAnew : kMostGrowth;
  if (++quiet_epochs_ % kQuietEpochs == 0) growth_ = std::min(2 * growth_, most);
}

// Were the queue ours, so low a pace would drain it: more would arrive than the pace lets go, and the delay would fall.
bool Pacer::is_delay_of_path(Duration queue, double rate, double pace_before) {
  const bool was_low = slow_epochs_ > 1 && pace_before < (1 - kStrongShrinkage) * line_rate_;
  const bool is_served = rate > 0.9 * pace_before && rate < 1.1 * pace_before;
  const bool stood_still = queue > last_queue_ - kMoves && is_served;
  unmoved_epochs_ = was_low && stood_still ? unmoved_epochs_ + 1 : 0;
  last_queue_ = queue;
  const bool starves = slow_epochs_ >= kLongRun && is_served && pace_ < kStarvedShare * reference_;
  if (unmoved_epochs_ < kUnmovedEpochs && !starves) return false;
  slow_epochs_ = unmoved_epochs_ = 0;
  pace_ = reference_;
  return true;
}

}  // namespace isthmus
