// LaneMeter: how much may be under way on one lane, and how long its segments should be.
//
// The pace of the whole link is the pacer's (pacer.h); this window decides which lane takes the next segment. It is a
// multiple of what the lane carried per round trip, so a lane that TCP holds back (a loss, a narrower path) is left
// with little, and one that goes well takes what it can. Until the first loss or stall it doubles per round trip at
// most, as TCP does below.
//
// Threads: the progress thread. Cost: a few operations per segment, no memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.h"

namespace isthmus {

struct LaneLimits {
  std::uint64_t max_window_bytes = 16 * 1024 * 1024;
  std::size_t min_segment_bytes = 16 * 1024;
  std::size_t max_segment_bytes = 256 * 1024;
};

class LaneMeter {
 public:
  explicit LaneMeter(const LaneLimits& limits);

  void depart(std::size_t bytes);
  // A segment that departed at `departed` was acknowledged, and no other lane carried it too.
  void arrive(TimePoint departed, std::size_t bytes, TimePoint now);
  // The segment counts no longer, and tells nothing: another lane carried it too, or took it over.
  void forget(std::size_t bytes) { in_flight_bytes_ -= bytes; }

  std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  std::uint64_t window_bytes() const { return window_bytes_; }
  bool has_room() const { return in_flight_bytes_ < window_bytes_; }
  double fullness() const { return static_cast<double>(in_flight_bytes_) / static_cast<double>(window_bytes_); }

  // A small part of the window (and so less than 60 ms of the lane), so that lanes end together.
  std::size_t segment_bytes() const;

  Duration round_trip() const { return round_trip_; }  // the least seen; zero: not measured yet
  // When a segment that left at `departed` is overdue: the smoothed time to an acknowledgement (queues included) and
  // four deviations (RFC 6298), or half as long again.
  TimePoint overdue_at(TimePoint departed) const;

 private:
  void note_trip(Duration sample);
  void end_epoch(TimePoint now);

  LaneLimits limits_;
  std::uint64_t in_flight_bytes_ = 0, window_bytes_;
  Duration round_trip_{0}, smoothed_{0}, deviation_{0};
  TimePoint epoch_began_{};
  std::uint64_t arrived_bytes_ = 0;  // in this epoch
  double rates_[4] = {};             // of the last epochs in which the window was the limit
  int next_rate_ = 0;
  bool was_limited_ = false;
};

}  // namespace isthmus
