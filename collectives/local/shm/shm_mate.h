// A site mate as seen by a process that sends to it: the way into the mate's directory, and its bell.
//
// Threads: one thread at a time; wake() from any thread.
#pragma once

#include <memory>
#include <string>

#include "collectives/local/shm/shm_ring_writer.h"
#include "runtime/base/fd.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {

class ShmMate {
 public:
  // `path` is the mate's ShmDirectory::path(). unavailable: the mate's process is gone (or shares no file system with
  // us). invalid_argument: the directory belongs to another user.
  static Result<ShmMate> open(const std::string& path);

  // The sending end of the ring that the mate created for `self`; its file has no name any more afterwards.
  // unavailable: there is none (not yet, or opened before). corruption: it is no ring of this version.
  Result<ShmRingWriter> open_ring(ProcessId self);

  // Makes the mate's wake_fd() readable. Harmless if the mate is dead.
  void wake() const;

 private:
  ShmMate(std::string path, Fd directory, Fd bell);

  std::string path_;
  Fd directory_;
  Fd bell_;
};

}  // namespace isthmus
