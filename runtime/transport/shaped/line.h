// ShapedLine: when a message that enters one direction of an emulated line leaves it at the other end. Pure arithmetic.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "runtime/base/clock.h"

namespace isthmus {

struct DirectionShape {
  Duration delay{0};                                     // one way
  Duration jitter{0};                                    // up to this much more, uniform; order within a lane is kept
  double rate_bytes_per_sec = 0;                         // of all lanes together; 0: no limit
  double loss = 0;                                       // the chance in [0, 1] that a message meets a loss
  Duration loss_delay = std::chrono::milliseconds(200);  // what a retransmission costs it, and so all behind it
};

class ShapedLine {
 public:
  explicit ShapedLine(std::uint64_t seed) : random_(seed) {}

  // The time at which a message that enters now falls due at the far end. Messages of all lanes are sent one after the
  // other at the rate; a lane is FIFO, so its caller keeps a message from overtaking the one before it. O(1).
  TimePoint admit(std::size_t bytes, TimePoint now, const DirectionShape& shape);

 private:
  double uniform();  // [0, 1)

  std::mt19937_64 random_;  // its numbers are the same on every machine, those of the standard distributions are not
  TimePoint free_at_{};     // when the last message will have left the sender
};

}  // namespace isthmus
