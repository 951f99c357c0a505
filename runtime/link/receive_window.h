// ReceiveWindow: which numbered segments arrived, so that each is delivered once and can be acknowledged.
//
// Threads: the progress thread. Memory: one bit per segment between the oldest gap and the newest arrival, at most
// kMaxAhead; a peer that runs further ahead breaks the protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

struct SegmentRange {
  std::uint64_t first = 0, last = 0;  // inclusive
};

// The least one-way delay of the segments that came over a lane since the last report: the receiver's clock minus the
// sender's, in microseconds modulo 2^32.
struct LaneDelay {
  std::uint32_t lane_serial = 0, delay_us = 0;
};

// Body of a kAck frame: everything up to `cumulative` arrived, and the ranges, ascending, beyond it.
struct Acknowledgement {
  std::uint64_t cumulative = 0;
  std::vector<SegmentRange> ranges;
  std::vector<LaneDelay> delays;
};
inline constexpr std::size_t kMaxAckRanges = 32, kMaxAckDelays = 64;

std::string encode_acknowledgement(const Acknowledgement& ack);
Result<Acknowledgement> decode_acknowledgement(ConstBytes bytes);

class ReceiveWindow {
 public:
  static constexpr std::uint64_t kMaxAhead = 1u << 20;

  enum class Arrival { kNew, kDuplicate, kTooFar };
  Arrival arrive(std::uint64_t segment);

  // The oldest kMaxAckRanges ranges; the rest is acknowledged by a later one.
  Acknowledgement acknowledgement() const;

 private:
  std::uint64_t cumulative_ = 0;  // all of 1..cumulative_ arrived
  std::deque<bool> beyond_;       // beyond_[i]: segment cumulative_ + 1 + i; the first is false, if there is one
};

}  // namespace isthmus
