// LaneSerials: which lanes of a session were accepted, so that a recorded greeting opens no second one.
//
// Threads: the progress thread. Memory: one word.
#pragma once

#include <cstdint>

namespace isthmus {

class LaneSerials {
 public:
  // True once per serial. Of serials more than 63 below the greatest one nothing is known: false.
  bool accept(std::uint32_t serial) {
    if (serial > greatest_) {
      const std::uint32_t ahead = serial - greatest_;
      seen_ = ahead < 64 ? seen_ << ahead : 0;
      greatest_ = serial;
    }
    const std::uint32_t behind = greatest_ - serial;
    if (behind >= 64 || (seen_ >> behind & 1) != 0) return false;
    seen_ |= std::uint64_t{1} << behind;
    return true;
  }

 private:
  std::uint32_t greatest_ = 0;
  std::uint64_t seen_ = 0;  // bit i: greatest_ - i
};

}  // namespace isthmus
