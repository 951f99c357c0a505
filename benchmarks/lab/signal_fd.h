// The signals that the lab passes on, as a descriptor.
//
// Threads: made before any thread, so that all inherit the mask.
#pragma once

#include <optional>

#include "runtime/base/fd.h"

namespace isthmus::lab {

class SignalFd {
 public:
  // Blocks SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2, and ignores SIGPIPE.
  static Result<SignalFd> create();

  int get() const { return fd_.get(); }
  std::optional<int> next() const;  // none when no signal waits

 private:
  explicit SignalFd(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace isthmus::lab
