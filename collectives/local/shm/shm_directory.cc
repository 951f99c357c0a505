#include "collectives/local/shm/shm_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace isthmus {
namespace {

// Every name below starts so; the user is in it, so that nobody has to look at what others own.
std::string name_prefix() { return fmt::format("isthmus-{}-", ::geteuid()); }

Fd open_directory(const std::string& path) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return Fd(fd);
}

bool try_lock(const Fd& directory) {
  int result;
  do {
    result = ::flock(directory.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool is_still_at(const Fd& directory, const std::string& path) {
  struct stat held{}, named{};
  return ::fstat(directory.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> names;
  DIR* stream = ::opendir(path.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

void remove_directory(const Fd& directory, const std::string& path) {
  for (const std::string& name : entries_of(path)) ::unlinkat(directory.get(), name.c_str(), 0);
  ::rmdir(path.c_str());
}

bool remove_if_dead(const std::string& path) {
  Fd directory = open_directory(path);
  struct stat about{};
  if (!directory.valid() || ::fstat(directory.get(), &about) != 0 || about.st_uid != ::geteuid()) return false;
  if (!try_lock(directory) || !is_still_at(directory, path)) return false;
  remove_directory(directory, path);
  return true;
}

// A cleaner may take the directory for a dead one in the moment before it is locked; then it is gone, or going, and is
// made again. A cleaner passes once per start of a process, so few attempts suffice.
Result<Fd> make_locked_directory(const std::string& path) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return unavailable("cannot make the directory {} for shared memory: {}", path, errno_message(errno));
    }
    Fd directory = open_directory(path);
    if (!directory.valid() && errno != ENOENT) {
      return unavailable("cannot open the directory {}: {}", path, errno_message(errno));
    }
    if (directory.valid() && try_lock(directory) && is_still_at(directory, path)) return directory;
    ::usleep(1000);
  }
  return unavailable("cannot lock the directory {}: another process of user {} holds it", path, ::geteuid());
}

}  // namespace

int remove_dead_shm_directories(const std::string& root) {
  const std::string prefix = name_prefix();
  int removed = 0;
  for (const std::string& name : entries_of(root)) {
    if (name.starts_with(prefix) && remove_if_dead(root + "/" + name)) ++removed;
  }
  return removed;
}

std::string shm_directory_path(std::uint32_t pid, ProcessId process, const std::string& root) {
  return fmt::format("{}/{}{}-{:016x}", root, name_prefix(), pid, process);
}

std::string shm_ring_name(ProcessId sender) { return fmt::format("ring-{:016x}", sender); }

ShmDirectory::ShmDirectory(std::string path, Fd directory)
    : path_(std::move(path)), directory_(std::move(directory)), owner_pid_(::getpid()) {}

Result<std::unique_ptr<ShmDirectory>> ShmDirectory::create(ProcessId self, const std::string& root) {
  remove_dead_shm_directories(root);
  const std::string path = shm_directory_path(static_cast<std::uint32_t>(::getpid()), self, root);
  ISTHMUS_ASSIGN_OR_RETURN(Fd locked, make_locked_directory(path));
  std::unique_ptr<ShmDirectory> directory(new ShmDirectory(path, std::move(locked)));
  if (::mkfifoat(directory->directory_.get(), kShmWakeName, 0600) != 0) {
    return unavailable("cannot make the FIFO {}/{}: {}", path, kShmWakeName, errno_message(errno));
  }
  // For reading and writing: a FIFO without a writer would be readable for ever (end of file) once a mate has left.
  directory->wake_.reset(
      ::openat(directory->directory_.get(), kShmWakeName, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!directory->wake_.valid()) {
    return unavailable("cannot open the FIFO {}/{}: {}", path, kShmWakeName, errno_message(errno));
  }
  return directory;
}

ShmDirectory::~ShmDirectory() {
  if (::getpid() == owner_pid_) remove_directory(directory_, path_);
}

Result<ShmRingReader> ShmDirectory::create_ring(ProcessId mate, std::size_t capacity_bytes) {
  ISTHMUS_RETURN_IF_ERROR(check_shm_ring_capacity(capacity_bytes));
  const std::string name = shm_ring_name(mate);
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<ShmMapping> mapping,
                           ShmMapping::create(directory_.get(), path_, name, kShmRingDataOffset + capacity_bytes));
  format_shm_ring(*mapping, capacity_bytes);
  return ShmRingReader::attach(std::move(mapping), path_ + "/" + name);
}

void ShmDirectory::drain_wakes() {
  char bytes[256];
  ssize_t count;
  do {
    count = ::read(wake_.get(), bytes, sizeof(bytes));
  } while (count == static_cast<ssize_t>(sizeof(bytes)) || (count < 0 && errno == EINTR));
}

}  // namespace isthmus
