#include "runtime/link/send_order.h"

#include <algorithm>

namespace isthmus {
namespace {

// Segments without payload cost something too.
constexpr std::size_t kSegmentCostBytes = 256;

}  // namespace

void SendOrder::add(void* operation, std::uint64_t communicator, int priority) {
  auto at = std::find_if(flows_.begin(), flows_.end(),
                         [&](const Flow& f) { return f.priority == priority && f.communicator == communicator; });
  if (at == flows_.end()) {
    std::uint64_t least = 0;
    bool any = false;
    for (const Flow& flow : flows_) {
      if (flow.priority != priority) continue;
      least = any ? std::min(least, flow.sent_bytes) : flow.sent_bytes;
      any = true;
    }
    at = std::find_if(flows_.begin(), flows_.end(), [&](const Flow& f) { return f.priority < priority; });
    at = flows_.insert(at, {priority, communicator, least, {}});
  }
  at->operations.push_back(operation);
}

void SendOrder::remove(void* operation) {
  for (auto flow = flows_.begin(); flow != flows_.end(); ++flow) {
    const auto found = std::find(flow->operations.begin(), flow->operations.end(), operation);
    if (found == flow->operations.end()) continue;
    flow->operations.erase(found);
    if (flow->operations.empty()) flows_.erase(flow);
    return;
  }
}

void SendOrder::sent(void* operation, std::size_t bytes) {
  turn_ = (turn_ + 1) % kTurnOfTheLowest;
  for (Flow& flow : flows_) {
    if (std::find(flow.operations.begin(), flow.operations.end(), operation) == flow.operations.end()) continue;
    flow.sent_bytes += bytes + kSegmentCostBytes;
    return;
  }
}

std::size_t SendOrder::end_of_level(std::size_t first, bool from_below) const {
  const auto at = [&](std::size_t i) { return flows_[from_below ? flows_.size() - 1 - i : i].priority; };
  std::size_t end = first + 1;
  while (end < flows_.size() && at(end) == at(first)) ++end;
  return end;
}

}  // namespace isthmus
