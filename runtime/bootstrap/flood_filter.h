// FloodFilter: which flooded messages were seen, so that each is passed on once. It remembers the newest kRemembered;
// an older one that still went about would be taken for new.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "runtime/base/process_id.h"

namespace isthmus {

class FloodFilter {
 public:
  static constexpr std::size_t kRemembered = 16384;

  // Whether message `number` of `process` is new; from now on it is not.
  bool is_new(ProcessId process, std::uint64_t number) {
    if (!seen_.emplace(process, number).second) return false;
    order_.emplace_back(process, number);
    if (order_.size() > kRemembered) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }
  std::size_t size() const { return seen_.size(); }

 private:
  std::set<std::pair<ProcessId, std::uint64_t>> seen_;
  std::deque<std::pair<ProcessId, std::uint64_t>> order_;  // oldest first
};

}  // namespace isthmus
