#include "runtime/transport/shaped/lane.h"

#include <algorithm>

namespace isthmus {

std::size_t ShapedBuffers::copy(ConstBytes message) {
  if (free_.empty()) {
    free_.push_back(buffers_.size());
    buffers_.push_back(std::make_unique<std::vector<std::byte>>());
  }
  const std::size_t index = free_.back();
  free_.pop_back();
  buffers_[index]->assign(message.begin(), message.end());
  return index;
}

TimePoint ShapedLane::out_due() const {
  if (out.empty() || !inner_up || inner_full || closing) return kNever;
  return std::max(out.front().due, out_not_before);
}

TimePoint ShapedLane::in_due() const { return in.empty() ? kNever : std::max(in.front().due, in_not_before); }

void ShapedLane::push_in(TransportEvent event, TimePoint due) {
  last_in_due = std::max(last_in_due, due);
  event.lane = id;
  in.push({std::move(event), last_in_due});
}

}  // namespace isthmus
