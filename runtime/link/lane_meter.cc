#include "runtime/link/lane_meter.h"

#include <algorithm>
#include <iterator>

namespace isthmus {
namespace {

constexpr std::uint64_t kFirstWindowBytes = 128 * 1024;
constexpr std::uint64_t kLeastSegmentsPerWindow = 4, kSegmentsPerWindow = 24;
constexpr double kGain = 2.5;
// Below this, threads that wait for a processor count for more than the path.
constexpr Duration kLeastRoundTrip = std::chrono::milliseconds(4);
constexpr Duration kMinPatience = std::chrono::milliseconds(20), kFirstPatience = std::chrono::seconds(1);

}  // namespace

LaneMeter::LaneMeter(const LaneLimits& limits)
    : limits_(limits), window_bytes_(std::min(kFirstWindowBytes, limits.max_window_bytes)) {}

void LaneMeter::depart(std::size_t bytes) {
  in_flight_bytes_ += bytes;
  if (!has_room()) was_limited_ = true;
}

void LaneMeter::arrive(TimePoint departed, std::size_t bytes, TimePoint now) {
  if (round_trip_ == Duration(0)) epoch_began_ = departed;
  in_flight_bytes_ -= bytes;
  arrived_bytes_ += bytes;
  note_trip(now - departed);
  if (now - epoch_began_ >= std::max(kLeastRoundTrip, smoothed_)) end_epoch(now);
}

void LaneMeter::note_trip(Duration sample) {
  if (round_trip_ == Duration(0)) {
    round_trip_ = smoothed_ = sample;
    deviation_ = sample / 2;
    return;
  }
  deviation_ += ((sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample) - deviation_) / 4;
  smoothed_ += (sample - smoothed_) / 8;
  round_trip_ = std::min(round_trip_, sample);
}

// A window that was never the limit says nothing: it stays.
void LaneMeter::end_epoch(TimePoint now) {
  if (was_limited_) {
    rates_[next_rate_++ % std::size(rates_)] = static_cast<double>(arrived_bytes_) / to_seconds(now - epoch_began_);
    const double rate = *std::max_element(std::begin(rates_), std::end(rates_));
    const auto window = static_cast<std::uint64_t>(kGain * rate * to_seconds(std::max(round_trip_, kLeastRoundTrip)));
    const std::uint64_t least =
        std::min<std::uint64_t>(kLeastSegmentsPerWindow * limits_.min_segment_bytes, limits_.max_window_bytes);
    window_bytes_ = std::clamp(std::min(window, 2 * window_bytes_), least, limits_.max_window_bytes);
  }
  arrived_bytes_ = 0;
  was_limited_ = false;
  epoch_began_ = now;
}

std::size_t LaneMeter::segment_bytes() const {
  constexpr std::uint64_t kStep = 4096;
  const std::uint64_t bytes = window_bytes_ / kSegmentsPerWindow / kStep * kStep;
  return std::clamp(static_cast<std::size_t>(bytes), std::min(limits_.min_segment_bytes, limits_.max_segment_bytes),
                    limits_.max_segment_bytes);
}

TimePoint LaneMeter::overdue_at(TimePoint departed) const {
  const Duration patience =
      round_trip_ == Duration(0) ? kFirstPatience : smoothed_ + std::max({kMinPatience, smoothed_ / 2, 4 * deviation_});
  return departed + patience;
}

}  // namespace isthmus
