// ShapedLane: what a shaped transport holds back of one lane.
//
// Threads: the thread of the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/transport/ring_queue.h"
#include "runtime/transport/transport.h"

namespace isthmus {

// Memory for messages under way. The index of a buffer is its token with the inner transport.
class ShapedBuffers {
 public:
  std::size_t copy(ConstBytes message);
  ConstBytes bytes(std::size_t index) const { return *buffers_[index]; }
  void release(std::size_t index) { free_.push_back(index); }

 private:
  std::vector<std::unique_ptr<std::vector<std::byte>>> buffers_;
  std::vector<std::size_t> free_;
};

struct ShapedLane {
  // Whether the next message or event may move at `now`.
  bool out_ready(TimePoint now) const { return out_due() <= now; }
  bool in_ready(TimePoint now) const { return in_due() <= now; }

  // When they fall due; kNever when there is none, or when the inner lane decides.
  TimePoint out_due() const;
  TimePoint in_due() const;

  // Queues an event behind those that came before it.
  void push_in(TransportEvent event, TimePoint due);

  struct Outgoing {
    std::size_t buffer = 0;
    TimePoint due{};
  };
  struct Held {
    ConstBytes message;
    std::uint64_t token = 0;
  };
  struct Incoming {
    TransportEvent event;
    TimePoint due{};
  };

  LaneId id = 0;
  LaneId inner = 0;               // 0 until the inner transport was asked to open it
  std::string address, greeting;  // of a lane that is to be opened
  TimePoint dial_at = kNever;
  bool inner_up = false;
  bool up = false;                // the caller was told
  bool closing = false;           // down but for what the inner transport still has to return
  Status down_work, down_reason;  // closing: what posted work comes back with, and what kLaneDown says

  TimePoint out_not_before{}, in_not_before{};  // after a heal
  RingQueue<Outgoing> out;                      // copies on their way to the inner transport
  std::size_t buffered_bytes = 0;               // in copies, until the inner transport is done with them
  bool inner_full = false;
  RingQueue<Held> held;  // sends that wait for room in the buffer
  int open_sends = 0;    // accepted, and kSent not collected yet
  RingQueue<Incoming> in;
  TimePoint last_out_due{}, last_in_due{};
};

}  // namespace isthmus
