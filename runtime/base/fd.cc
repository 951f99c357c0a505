#include "runtime/base/fd.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace isthmus {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<WakeFd> WakeFd::create() {
  WakeFd wake;
  wake.fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.fd_.valid()) return unavailable("cannot make an eventfd: {}", errno_message(errno));
  return wake;
}

void WakeFd::signal() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto ignored = ::write(fd_.get(), &one, sizeof(one));  // full counter: the waiter wakes anyway
}

void WakeFd::drain() const {
  std::uint64_t count;
  [[maybe_unused]] auto ignored = ::read(fd_.get(), &count, sizeof(count));
}

std::string errno_message(int error) {
  const std::string text = std::error_code(error, std::generic_category()).message();
  if (error == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return fmt::format("{} (errno {}; this process may open {} file descriptors: raise `ulimit -n`)", text, error,
                       limit.rlim_cur);
  }
  return fmt::format("{} (errno {})", text, error);
}

}  // namespace isthmus
