#include "benchmarks/lab/signal_fd.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace isthmus::lab {

Result<SignalFd> SignalFd::create() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0)
    return unavailable("cannot block signals: {}", errno_message(errno));
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take away the exit statuses
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return unavailable("cannot make a signalfd: {}", errno_message(errno));
  return SignalFd(std::move(fd));
}

std::optional<int> SignalFd::next() const {
  signalfd_siginfo info;
  if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace isthmus::lab
