#include "runtime/link/lane_count.h"

#include <algorithm>

namespace isthmus {
namespace {

constexpr Duration kMinPeriod = std::chrono::milliseconds(500);
constexpr int kSettleRoundTrips = 10, kMeasureRoundTrips = 16;
// Of a period in which the lanes were not the limit: more void it.
constexpr double kMaxIdleShare = 0.5;
constexpr Duration kFirstPause = std::chrono::seconds(2), kMaxPause = std::chrono::seconds(120);

}  // namespace

void LaneCount::begin(Phase phase, std::uint64_t delivered_bytes, TimePoint now) {
  phase_ = phase;
  begun_ = last_ = now;
  begun_bytes_ = delivered_bytes;
  idle_ = Duration(0);
}

void LaneCount::observe(std::uint64_t delivered_bytes, bool are_limit, int open, Duration round_trip, TimePoint now) {
  if (count_ == most_ && best_count_ == 0) return;  // fixed
  if (!runs_) {
    if (!are_limit) return;
    runs_ = true;
    begin(Phase::kSettle, delivered_bytes, now);
  }
  if (!are_limit) idle_ += now - last_;
  last_ = now;
  if (open < count_) return begin(Phase::kSettle, delivered_bytes, now);
  const int round_trips = phase_ == Phase::kSettle ? kSettleRoundTrips : kMeasureRoundTrips;
  const Duration period = std::max(kMinPeriod, round_trips * round_trip);
  if (to_seconds(idle_) > kMaxIdleShare * to_seconds(period)) {
    runs_ = false;
    return;
  }
  if (now - begun_ < period) return;
  if (phase_ == Phase::kSettle) return begin(Phase::kMeasure, delivered_bytes, now);
  judge(static_cast<double>(delivered_bytes - begun_bytes_) / to_seconds(now - begun_), now);
  begin(phase_, delivered_bytes, now);
}

void LaneCount::judge(double rate, TimePoint now) {
  if (count_ == best_count_) {  // between trials
    best_rate_ = rate;
    if (now < next_trial_ || count_ == most_) return;
  } else if (best_count_ == 0 || rate > best_rate_ * kGain) {  // it paid
    best_count_ = count_;
    best_rate_ = rate;
    pause_ = Duration(0);
    if (count_ == most_) return;
  } else {
    count_ = best_count_;
    pause_ = pause_ == Duration(0) ? kFirstPause : std::min(2 * pause_, kMaxPause);
    next_trial_ = now + pause_;
    phase_ = Phase::kSettle;
    return;
  }
  count_ = std::min(2 * count_, most_);
  phase_ = Phase::kSettle;
}

}  // namespace isthmus
