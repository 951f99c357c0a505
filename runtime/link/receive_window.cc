#include "runtime/link/receive_window.h"

namespace isthmus {

std::string encode_acknowledgement(const Acknowledgement& ack) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(ack.cumulative);
  writer.put(static_cast<std::uint16_t>(ack.ranges.size()));
  writer.put(static_cast<std::uint16_t>(ack.delays.size()));
  for (const SegmentRange& range : ack.ranges) {
    writer.put(range.first);
    writer.put(range.last);
  }
  for (const LaneDelay& delay : ack.delays) {
    writer.put(delay.lane_serial);
    writer.put(delay.delay_us);
  }
  return bytes;
}

Result<Acknowledgement> decode_acknowledgement(ConstBytes bytes) {
  ByteReader reader(bytes);
  Acknowledgement ack;
  ack.cumulative = reader.get<std::uint64_t>();
  const auto count = reader.get<std::uint16_t>();
  const auto delays = reader.get<std::uint16_t>();
  if (!reader.ok() || count > kMaxAckRanges || delays > kMaxAckDelays)
    return corruption("acknowledgement with {} ranges and {} delays", count, delays);
  std::uint64_t after = ack.cumulative;
  for (int i = 0; i < count; ++i) {
    SegmentRange range;
    range.first = reader.get<std::uint64_t>();
    range.last = reader.get<std::uint64_t>();
    if (!reader.ok() || range.first <= after || range.last < range.first)
      return corruption("acknowledgement range {}..{} after {}", range.first, range.last, after);
    after = range.last;
    ack.ranges.push_back(range);
  }
  for (int i = 0; i < delays; ++i) {
    LaneDelay delay;
    delay.lane_serial = reader.get<std::uint32_t>();
    delay.delay_us = reader.get<std::uint32_t>();
    ack.delays.push_back(delay);
  }
  if (!reader.at_end()) return corruption("acknowledgement of {} bytes has another length", bytes.size());
  return ack;
}

ReceiveWindow::Arrival ReceiveWindow::arrive(std::uint64_t segment) {
  if (segment <= cumulative_) return Arrival::kDuplicate;
  const std::uint64_t index = segment - cumulative_ - 1;
  if (index >= kMaxAhead) return Arrival::kTooFar;
  if (index < beyond_.size() && beyond_[index]) return Arrival::kDuplicate;
  if (index == 0) {
    ++cumulative_;
    if (!beyond_.empty()) beyond_.pop_front();
    while (!beyond_.empty() && beyond_.front()) {
      beyond_.pop_front();
      ++cumulative_;
    }
    return Arrival::kNew;
  }
  if (index >= beyond_.size()) beyond_.resize(index + 1, false);
  beyond_[index] = true;
  return Arrival::kNew;
}

Acknowledgement ReceiveWindow::acknowledgement() const {
  Acknowledgement ack;
  ack.cumulative = cumulative_;
  std::size_t i = 0;
  while (i < beyond_.size() && ack.ranges.size() < kMaxAckRanges) {
    while (i < beyond_.size() && !beyond_[i]) ++i;
    if (i == beyond_.size()) break;
    std::size_t end = i;
    while (end < beyond_.size() && beyond_[end]) ++end;
    ack.ranges.push_back({cumulative_ + 1 + i, cumulative_ + end});
    i = end;
  }
  return ack;
}

}  // namespace isthmus
