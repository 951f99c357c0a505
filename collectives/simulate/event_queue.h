// EventQueue: what happens next in a simulation, by time, then in the order in which it was planned.
//
// Threads: one thread at a time. Cost: O(log n) per event, 24 bytes.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace isthmus {

using SimulatedTime = std::int64_t;  // nanoseconds since the operation began

struct Event {
  SimulatedTime at = 0;
  std::uint64_t number = 0;  // breaks ties: a simulation has one course only
  std::uint32_t kind = 0;
  std::uint32_t subject = 0;  // what `kind` is about

  bool operator>(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
};

class EventQueue {
 public:
  void plan(SimulatedTime at, std::uint32_t kind, std::uint32_t subject) {
    events_.push({at, next_number_++, kind, subject});
  }
  bool empty() const { return events_.empty(); }
  Event take() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }
  std::uint64_t planned() const { return next_number_; }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
};

}  // namespace isthmus
