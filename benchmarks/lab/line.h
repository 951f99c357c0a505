// One direction of a site's line: a rate and a drop-tail queue, kept as a virtual clock.
//
// Threads: one thread at a time. Reads no clock: the caller says when a packet arrives.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/config/units.h"

namespace isthmus::lab {

class Line {
 public:
  // `queue` is the longest wait of an admitted packet; a queue always holds at least two packets of `mtu_bytes`.
  Line(std::int64_t bits_per_sec, Duration queue, int mtu_bytes);

  // When the last bit of a packet of `size_bytes` has left, or none: the queue was full and the packet is dropped.
  // Arrivals must not go back in time.
  std::optional<TimePoint> admit(TimePoint arrival, std::uint32_t size_bytes);

  // As admit(), for a packet seen at `now` that came at some time since `last_look`. If the line was still busy at
  // `last_look`, the packet counts as having waited for it: a forwarder that is scheduled late loses no capacity.
  std::optional<TimePoint> admit_late(TimePoint now, TimePoint last_look, std::uint32_t size_bytes);

  // Holds for packets that arrive from now on.
  void set_rate(std::int64_t bits_per_sec);
  std::int64_t rate_bits_per_sec() const { return bits_per_sec_; }

 private:
  Duration send_time(std::uint32_t size_bytes) const;

  std::int64_t bits_per_sec_ = 0;
  double ns_per_byte_ = 0;
  Duration configured_queue_;
  Duration queue_{};
  int mtu_bytes_;
  TimePoint free_at_{};
};

}  // namespace isthmus::lab
