#include "collectives/local/shm/shm_mate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "collectives/local/shm/shm_directory.h"

namespace isthmus {
namespace {

int open_at(int directory_fd, const char* name, int flags) {
  int fd;
  do {
    fd = ::openat(directory_fd, name, flags | O_CLOEXEC | O_NOFOLLOW);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// The owner holds an exclusive lock for its whole life. Shared, so that two mates who ask at once do not take each
// other for the owner.
bool owner_is_dead(int directory_fd) {
  int result;
  do {
    result = ::flock(directory_fd, LOCK_SH | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

ShmMate::ShmMate(std::string path, Fd directory, Fd bell)
    : path_(std::move(path)), directory_(std::move(directory)), bell_(std::move(bell)) {}

Result<ShmMate> ShmMate::open(const std::string& path) {
  Fd directory(open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY));
  struct stat about{};
  if (!directory.valid() || ::fstat(directory.get(), &about) != 0) {
    return unavailable("cannot open {}, the shared memory of a site mate: {}", path, errno_message(errno));
  }
  if (about.st_uid != ::geteuid()) {
    return invalid_argument("{} belongs to user {}, this process to user {}: site mates must run as one user", path,
                            about.st_uid, ::geteuid());
  }
  if (owner_is_dead(directory.get())) return unavailable("{}: the process that owns it is dead", path);
  // For reading too: a write into a FIFO whose last reader has died raises SIGPIPE, and so there is always one.
  Fd bell(open_at(directory.get(), kShmWakeName, O_RDWR | O_NONBLOCK));
  if (!bell.valid()) return unavailable("cannot open the FIFO {}/{}: {}", path, kShmWakeName, errno_message(errno));
  return ShmMate(path, std::move(directory), std::move(bell));
}

Result<ShmRingWriter> ShmMate::open_ring(ProcessId self) {
  const std::string name = shm_ring_name(self);
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<ShmMapping> mapping,
                           ShmMapping::open(directory_.get(), path_, name, kShmRingDataOffset + kMinShmRingBytes,
                                            kShmRingDataOffset + kMaxShmRingBytes));
  ISTHMUS_ASSIGN_OR_RETURN(ShmRingWriter writer, ShmRingWriter::attach(std::move(mapping), path_ + "/" + name));
  ::unlinkat(directory_.get(), name.c_str(), 0);
  return writer;
}

void ShmMate::wake() const {
  const char byte = 0;
  ssize_t written;
  do {
    written = ::write(bell_.get(), &byte, 1);  // a full FIFO wakes the mate anyway
  } while (written < 0 && errno == EINTR);
}

}  // namespace isthmus
