// Poller: which of many descriptors are ready (epoll).
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/fd.h"
#include "runtime/base/status.h"

namespace isthmus {

class Poller {
 public:
  static Result<Poller> create();

  // `key` comes back from wait(). Reading is always asked for, writing only where `writing` says so.
  Status add(int fd, std::uint64_t key, bool writing);
  Status change(int fd, std::uint64_t key, bool writing);
  // Before the descriptor is closed.
  void remove(int fd);

  int fd() const { return epoll_.get(); }  // readable while a descriptor is ready: a poller may watch another

  // Keys of the descriptors that are ready (or failed), in `*keys`; empty at the deadline.
  Status wait(TimePoint deadline, std::vector<std::uint64_t>* keys);

 private:
  Fd epoll_;
};

}  // namespace isthmus
