// Counters that the data path adds to and anyone may read.
//
// Threads: any thread; relaxed, so two counters read together need not be of one instant.
#pragma once

#include <atomic>
#include <cstdint>

namespace isthmus {

class Counter {
 public:
  void add(std::uint64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Bytes of whole frames: headers, acknowledgements and what was sent again included.
struct Traffic {
  Counter sent_bytes;
  Counter received_bytes;
  Counter resent_bytes;     // of sent_bytes: because the first copy was overdue or its lane died
  Counter duplicate_bytes;  // of received_bytes: had arrived before
  Counter bad_frames;       // damaged, or not from the peer
};

}  // namespace isthmus
