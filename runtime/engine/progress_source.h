// ProgressSource: something that the progress thread drives beside the links, such as a site's shared memory.
//
// Threads: the progress thread.
#pragma once

#include "runtime/base/clock.h"

namespace isthmus {

class ProgressSource {
 public:
  virtual ~ProgressSource() = default;

  // Moves everything that can be moved now, for at most about 1 ms. Returns whether anything was.
  virtual bool progress() = 0;

  // Readable when progress() may have something to do. arm() comes before sleeping; false: do not sleep.
  virtual int wait_fd() const = 0;
  virtual bool arm() = 0;
  virtual TimePoint next_due() const { return kNever; }
};

}  // namespace isthmus
