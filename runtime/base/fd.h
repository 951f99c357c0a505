// A file descriptor with one owner, and an eventfd that wakes a sleeping thread.
//
// Threads: Fd, one thread at a time. WakeFd: signal() from any thread, drain() from the waiter.
#pragma once

#include <utility>

#include "runtime/base/status.h"

namespace isthmus {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

class WakeFd {
 public:
  static Result<WakeFd> create();  // close-on-exec, non-blocking
  int get() const { return fd_.get(); }
  void signal() const;  // async-signal-safe
  void drain() const;

 private:
  Fd fd_;
};

// "Too many open files (errno 24; this process may open 256 descriptors)": a system error in words, with the limit
// where the limit is the cause.
std::string errno_message(int error);

}  // namespace isthmus
