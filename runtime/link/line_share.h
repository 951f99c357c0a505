// LineShare: how the links of one process share its line. Pacers that only watch the queue keep whatever shares they
// began with, and then one link of a collective ends long after the others, on a line that is half idle. So a link
// that has more than its fair part aims at a shorter queue and yields to those that have less, and what a link no
// longer uses goes to the others. Fair is in proportion to what waits on each link, within bounds: then all end
// together.
//
// Threads: the progress thread. Cost: a few operations per link and epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"

namespace isthmus {

class LineShare {
 public:
  // A link, which keeps it up to date.
  struct Part {
    double bytes_per_sec = 0;  // its pace
    std::uint64_t waiting_bytes = 0;
    TimePoint busy_at{};  // when something last waited
  };

  void join(const Part* part) { parts_.push_back(part); }
  void leave(const Part* part) { std::erase(parts_, part); }

  // The fair part of what all links that were busy lately are paced at, as a multiple of this link's pace.
  double fairness(const Part& part, TimePoint now) const;

 private:
  std::vector<const Part*> parts_;
};

}  // namespace isthmus
