#include "benchmarks/lab/line.h"

#include <algorithm>
#include <cmath>

namespace isthmus::lab {

Line::Line(std::int64_t bits_per_sec, Duration queue, int mtu_bytes) : configured_queue_(queue), mtu_bytes_(mtu_bytes) {
  set_rate(bits_per_sec);
}

void Line::set_rate(std::int64_t bits_per_sec) {
  bits_per_sec_ = bits_per_sec;
  ns_per_byte_ = bits_per_sec == kUnlimitedRate ? 0 : 8e9 / static_cast<double>(bits_per_sec);
  queue_ = std::max(configured_queue_, 2 * send_time(static_cast<std::uint32_t>(mtu_bytes_)));
}

std::optional<TimePoint> Line::admit(TimePoint arrival, std::uint32_t size_bytes) {
  const TimePoint start = std::max(free_at_, arrival);
  if (start - arrival > queue_) return std::nullopt;
  free_at_ = start + send_time(size_bytes);
  return free_at_;
}

std::optional<TimePoint> Line::admit_late(TimePoint now, TimePoint last_look, std::uint32_t size_bytes) {
  return admit(free_at_ >= last_look ? std::min(now, free_at_) : now, size_bytes);
}

Duration Line::send_time(std::uint32_t size_bytes) const {
  return Duration(std::llround(ns_per_byte_ * static_cast<double>(size_bytes)));
}

}  // namespace isthmus::lab
