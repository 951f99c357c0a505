#include "runtime/link/sent_frames.h"

namespace isthmus {

OutFrame* SentFrames::take(std::size_t bytes) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<OutFrame>());
    all_.back()->bytes.reserve(reserved_bytes_);
    free_.push_back(all_.back().get());
  }
  OutFrame* frame = free_.back();
  free_.pop_back();
  frame->bytes.resize(bytes);
  frame->segment = 0;
  frame->copies = {};
  frame->posted = 0;
  frame->is_acknowledged = frame->was_resent = false;
  frame->overdue_resends = 0;
  return frame;
}

void SentFrames::release(OutFrame* frame) { free_.push_back(frame); }

std::uint64_t SentFrames::keep(OutFrame* frame) {
  frame->segment = next_segment_++;
  kept_.push_back(frame);
  return frame->segment;
}

}  // namespace isthmus
