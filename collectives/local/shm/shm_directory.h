// The place in /dev/shm where one process receives from its site mates: a directory that holds a `wake` FIFO and, for a
// short time, one ring file per mate.
//
// Threads: one thread at a time; wake_fd() may be polled by any.
//
// The receiver creates everything, so that it decides about its own memory; a mate opens what is there (ShmMate),
// unlinks the ring file as soon as it is mapped, and writes a byte into the FIFO to wake the owner. What a crash leaves
// behind is therefore a nearly empty directory. The owner holds a lock on the directory for its whole life: whoever can
// take the lock knows that the owner is dead, whatever pid namespace it lived in, and removes the directory. Every
// process does so for its user's dead when it creates its own.
//
// After fork the child's object does nothing: the directory stays the parent's.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "collectives/local/shm/shm_ring_reader.h"
#include "runtime/base/fd.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {

inline constexpr const char* kShmRoot = "/dev/shm";

class ShmDirectory {
 public:
  // Makes <root>/isthmus-<uid>-<pid>-<process id in hex>, mode 0700, after removing what dead processes left in root.
  // unavailable: it cannot be made (the message names the path and the reason).
  static Result<std::unique_ptr<ShmDirectory>> create(ProcessId self, const std::string& root = kShmRoot);
  ~ShmDirectory();  // removes the directory; rings stay usable

  // What mates give to ShmMate::open.
  const std::string& path() const { return path_; }

  // The ring that `mate` will send into; call it before the mate opens its end. unavailable: no memory left, or it was
  // created before and the mate has not opened it.
  Result<ShmRingReader> create_ring(ProcessId mate, std::size_t capacity_bytes = kDefaultShmRingBytes);

  // Readable once a mate has called wake(), until drain_wakes().
  int wake_fd() const { return wake_.get(); }
  void drain_wakes();

 private:
  ShmDirectory(std::string path, Fd directory);

  std::string path_;
  Fd directory_;  // carries the lock
  Fd wake_;
  pid_t owner_pid_;
};

// Removes the directories in `root` whose owners, processes of this user, are dead; returns how many. What cannot be
// looked at is left alone.
int remove_dead_shm_directories(const std::string& root = kShmRoot);

// Where a process of this user and host has its directory.
std::string shm_directory_path(std::uint32_t pid, ProcessId process, const std::string& root = kShmRoot);

// The names inside a directory, shared with ShmMate.
inline constexpr const char* kShmWakeName = "wake";
std::string shm_ring_name(ProcessId sender);  // "ring-00000000000000ab"

}  // namespace isthmus
