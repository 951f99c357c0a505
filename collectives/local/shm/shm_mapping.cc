#include "collectives/local/shm/shm_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

Status no_memory(int directory_fd, const std::string& path, const std::string& name, std::size_t bytes, int error) {
  struct statvfs about{};
  const bool known = ::fstatvfs(directory_fd, &about) == 0;
  return unavailable("cannot take {} bytes of shared memory for {}/{}: {}; its file system has {} bytes free", bytes,
                     path, name, errno_message(error), known ? about.f_bavail * about.f_frsize : 0);
}

Result<std::shared_ptr<ShmMapping>> map_file(int fd, const std::string& path, const std::string& name,
                                             std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) {
    return unavailable("cannot map {} bytes of {}/{}: {}", bytes, path, name, errno_message(errno));
  }
  return std::make_shared<ShmMapping>(data, bytes);
}

int open_file(int directory_fd, const std::string& name, int flags) {
  int fd;
  do {
    fd = ::openat(directory_fd, name.c_str(), flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

Result<std::shared_ptr<ShmMapping>> ShmMapping::create(int directory_fd, const std::string& path,
                                                       const std::string& name, std::size_t bytes) {
  Fd fd(open_file(directory_fd, name, O_CREAT | O_EXCL));
  if (!fd.valid()) return unavailable("cannot create {}/{}: {}", path, name, errno_message(errno));
  int error;
  do {
    error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  Result<std::shared_ptr<ShmMapping>> mapping =
      error == 0 ? map_file(fd.get(), path, name, bytes) : no_memory(directory_fd, path, name, bytes, error);
  if (!mapping.ok()) ::unlinkat(directory_fd, name.c_str(), 0);
  return mapping;
}

Result<std::shared_ptr<ShmMapping>> ShmMapping::open(int directory_fd, const std::string& path, const std::string& name,
                                                     std::size_t least_bytes, std::size_t most_bytes) {
  Fd fd(open_file(directory_fd, name, 0));
  if (!fd.valid()) return unavailable("cannot open {}/{}: {}", path, name, errno_message(errno));
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) {
    return unavailable("cannot look at {}/{}: {}", path, name, errno_message(errno));
  }
  const auto bytes = static_cast<std::size_t>(about.st_size);
  if (!S_ISREG(about.st_mode) || bytes < least_bytes || bytes > most_bytes) {
    return corruption("{}/{} is {} bytes long; a file of shared memory has {} to {}", path, name, bytes, least_bytes,
                      most_bytes);
  }
  return map_file(fd.get(), path, name, bytes);
}

ShmMapping::~ShmMapping() { ::munmap(data_, bytes_); }

}  // namespace isthmus
