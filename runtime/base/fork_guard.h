// ForkGuard: remembers the process that made an object. Threads do not survive fork(), and a parent's sockets are not
// the child's to use: in the child calls must fail clearly and destructors must do nothing.
//
// Threads: any thread.
#pragma once

#include <unistd.h>

#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

class ForkGuard {
 public:
  bool in_child() const { return ::getpid() != pid_; }

  // unavailable in a child of the process that made the guard. `what`: "the peer mesh".
  Status check(std::string_view what) const {
    if (!in_child()) return Status();
    return unavailable("{} belongs to process {}; this is its child {}, made by fork(): create a new one here", what,
                       pid_, ::getpid());
  }

 private:
  pid_t pid_ = ::getpid();
};

}  // namespace isthmus
