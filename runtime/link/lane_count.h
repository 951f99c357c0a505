// LaneCount: how many lanes a link uses, by whether more of them pay.
//
// One lane that a loss-based congestion control slows down after every loss carries C x MSS / (round trip x sqrt(loss))
// whatever the line could take (Mathis et al., 1997); N of them carry about N times that. On a clean line, or with BBR,
// more lanes gain nothing and cost losses. So: start with a few, double while the measured throughput rises by more
// than kGain, go back to what was best otherwise, and try again after a pause that doubles each time.
//
// Only periods count in which the lanes were the limit: more was to be sent and the pace (pacer.h) would have let it,
// but no lane had room. A link that is idle, or whose line is full, says nothing about its lanes.
//
// Threads: the progress thread. Cost: nothing per segment, a comparison per call.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"

namespace isthmus {

class LaneCount {
 public:
  static constexpr double kGain = 1.05;

  // `first` = `most`: fixed.
  LaneCount(int first, int most) : count_(first), most_(most) {}

  // Called as often as the link is pumped: bytes acknowledged so far, whether the lanes are the limit, and a round trip
  // (zero: not known). `open`: lanes that exist; a change counts once they do.
  void observe(std::uint64_t delivered_bytes, bool are_limit, int open, Duration round_trip, TimePoint now);

  int count() const { return count_; }

 private:
  enum class Phase { kSettle, kMeasure };
  void begin(Phase phase, std::uint64_t delivered_bytes, TimePoint now);
  void judge(double rate, TimePoint now);

  int count_;
  const int most_;
  int best_count_ = 0;  // 0: nothing measured yet
  double best_rate_ = 0;
  Phase phase_ = Phase::kSettle;
  TimePoint begun_{}, last_{};
  Duration idle_{0};
  std::uint64_t begun_bytes_ = 0;
  bool runs_ = false;
  TimePoint next_trial_{};
  Duration pause_{0};
};

}  // namespace isthmus
