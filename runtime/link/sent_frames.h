// SentFrames: the frames of one direction of a link, from the moment a segment is numbered until the peer's link has
// acknowledged it. A frame keeps its bytes as they went out first (sealed), so a resend is the same on any lane and the
// caller may overwrite the source at once.
//
// Threads: the progress thread. Memory: what is under way; frames are used again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/link/receive_window.h"
#include "runtime/transport/transport.h"

namespace isthmus {

// One copy of a frame on a lane.
struct FrameCopy {
  LaneId lane = 0;  // 0: none
  TimePoint departed{};
};

struct OutFrame {
  std::vector<std::byte> bytes;
  std::uint64_t segment = 0;  // 0: an acknowledgement, which is not kept
  // At most two copies are under way: the first, and one that was sent since the first is overdue.
  std::array<FrameCopy, 2> copies;
  int posted = 0;  // buffers that a transport still reads
  bool is_acknowledged = false;
  bool was_resent = false;
  int overdue_resends = 0;

  bool has_lane() const { return copies[0].lane != 0 || copies[1].lane != 0; }
  bool is_on(LaneId lane) const { return copies[0].lane == lane || copies[1].lane == lane; }
};

class SentFrames {
 public:
  explicit SentFrames(std::size_t reserved_bytes) : reserved_bytes_(reserved_bytes) {}

  OutFrame* take(std::size_t bytes);
  void release(OutFrame* frame);  // its segment is not kept (any longer)

  // Numbers the next segment; the frame is kept from now on.
  std::uint64_t keep(OutFrame* frame);
  std::uint64_t next_segment() const { return next_segment_; }

  // Calls `acknowledged(frame)` for each frame that is now known to have arrived; it is no longer among the kept ones.
  // corruption: a segment was acknowledged that was never sent.
  template <typename Fn>
  Status acknowledge(const Acknowledgement& ack, Fn acknowledged);

  // Kept frames, oldest first; nullptr: acknowledged out of order.
  const std::deque<OutFrame*>& kept() const { return kept_; }
  bool empty() const { return kept_.empty(); }
  OutFrame* oldest() const { return kept_.empty() ? nullptr : kept_.front(); }  // never an acknowledged one

 private:
  const std::size_t reserved_bytes_;
  std::vector<std::unique_ptr<OutFrame>> all_;
  std::vector<OutFrame*> free_;
  std::uint64_t next_segment_ = 1, first_segment_ = 1;
  std::deque<OutFrame*> kept_;
};

template <typename Fn>
Status SentFrames::acknowledge(const Acknowledgement& ack, Fn acknowledged) {
  const std::uint64_t last = ack.ranges.empty() ? ack.cumulative : ack.ranges.back().last;
  if (last >= next_segment_)
    return corruption("segment {} acknowledged, {} was the last sent", last, next_segment_ - 1);
  for (const SegmentRange& range : ack.ranges) {
    for (std::uint64_t segment = std::max(range.first, first_segment_); segment <= range.last; ++segment) {
      OutFrame*& slot = kept_[segment - first_segment_];
      if (slot != nullptr) acknowledged(std::exchange(slot, nullptr));
    }
  }
  while (!kept_.empty() && (first_segment_ <= ack.cumulative || kept_.front() == nullptr)) {
    OutFrame* frame = kept_.front();
    kept_.pop_front();
    ++first_segment_;
    if (frame != nullptr) acknowledged(frame);
  }
  return Status();
}

}  // namespace isthmus
