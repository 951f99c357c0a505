#include "benchmarks/lab/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>

#include "benchmarks/lab/process_tree.h"

namespace isthmus::lab {
namespace {

constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& string : strings) out.push_back(const_cast<char*>(string.c_str()));
  out.push_back(nullptr);
  return out;
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);  // fails, harmlessly, for some
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_rank(const RankProcess& rank, const SiteNamespace& site, const std::vector<std::string>& command,
                           pid_t guardian) {
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(rank.output.get(), STDOUT_FILENO);
  ::dup2(rank.errors.get(), STDERR_FILENO);
  if (input > STDERR_FILENO) ::close(input);
  if (const Status entered = site.enter(); !entered.ok()) {
    std::fprintf(stderr, "isthmus-lab: %s\n", entered.to_string().c_str());
    ::_exit(kCannotRun);
  }
  reset_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) ::_exit(kCannotRun);  // it died before the line above
  ::execvpe(command.front().c_str(), pointers(command).data(), pointers(rank.environment).data());
  const int error = errno;
  std::fprintf(stderr, "isthmus-lab: cannot run '%s': %s\n", command.front().c_str(), errno_message(error).c_str());
  ::_exit(error == ENOENT ? kNotFound : kCannotRun);
}

// The loop of the guardian's process.
class GuardianLoop {
 public:
  GuardianLoop(Fd channel, Fd children) : channel_(std::move(channel)), children_(std::move(children)) {}

  bool start_ranks(const std::vector<RankProcess>& ranks, const std::vector<SiteNamespace>& sites,
                   const std::vector<std::string>& command) {
    const pid_t self = ::getpid();
    for (const RankProcess& rank : ranks) {
      const pid_t pid = ::fork();
      if (pid < 0) return false;
      if (pid == 0) run_rank(rank, sites[static_cast<std::size_t>(rank.site)], command, self);
      ::setpgid(pid, pid);  // also here: a signal may come before the child has done it
      ranks_[pid] = rank.rank;
    }
    return true;
  }

  void run() {
    while (true) {
      pollfd polled[] = {{channel_.get(), POLLIN, 0}, {children_.get(), POLLIN, 0}};
      if (::poll(polled, 2, -1) < 0 && errno != EINTR) return;
      if (polled[1].revents != 0) reap();
      if (polled[0].revents != 0 && !obey()) return;
    }
  }

 private:
  void reap() {
    signalfd_siginfo ignored;
    [[maybe_unused]] const auto drained = ::read(children_.get(), &ignored, sizeof(ignored));
    int status = 0;
    pid_t pid;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto found = ranks_.find(pid);
      if (found == ranks_.end()) continue;  // an orphan of a rank
      const RankEnd end{found->second, status};
      ranks_.erase(found);
      ::send(channel_.get(), &end, sizeof(end), MSG_NOSIGNAL);
    }
  }

  bool obey() {
    int signal = 0;
    const ssize_t size = ::recv(channel_.get(), &signal, sizeof(signal), 0);
    if (size != sizeof(signal)) return size < 0 && errno == EINTR;
    for (const auto& [pid, rank] : ranks_) ::kill(-pid, signal);
    return true;
  }

  Fd channel_;
  Fd children_;
  std::map<pid_t, int> ranks_;  // those that live
};

[[noreturn]] void run_guardian(Fd channel, std::vector<RankProcess> ranks, std::vector<SiteNamespace> sites,
                               const std::vector<std::string>& command) {
  ::setsid();  // a Ctrl-C at the terminal goes to the lab only, which passes it on
  adopt_orphans();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  Fd children(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  GuardianLoop loop(std::move(channel), std::move(children));
  const bool started = loop.start_ranks(ranks, sites, command);
  ranks.clear();  // the pipes now close with the last writer
  sites.clear();
  if (started) loop.run();
  kill_descendants();
  ::_exit(started ? 0 : 1);
}

}  // namespace

Result<Guardian> Guardian::start(std::vector<RankProcess> ranks, std::vector<SiteNamespace> sites,
                                 const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return unavailable("cannot make a socket pair: {}", errno_message(errno));
  }
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  adopt_orphans();  // should the guardian itself be killed
  const pid_t pid = ::fork();
  if (pid < 0) return unavailable("cannot start the ranks' parent: {}", errno_message(errno));
  if (pid == 0) {
    ours.reset();
    run_guardian(std::move(theirs), std::move(ranks), std::move(sites), command);
  }
  return Guardian(std::move(ours), pid);
}

Result<std::optional<RankEnd>> Guardian::next_end() {
  RankEnd end;
  const ssize_t size = ::recv(channel_.get(), &end, sizeof(end), MSG_DONTWAIT);
  if (size == sizeof(end)) return std::optional<RankEnd>(end);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<RankEnd>();
  return unavailable("the parent of the ranks has gone; was it killed?");
}

void Guardian::signal_ranks(int signal) { ::send(channel_.get(), &signal, sizeof(signal), MSG_NOSIGNAL); }

void Guardian::finish() {
  channel_.reset();
  ::waitpid(pid_, nullptr, 0);
  kill_descendants();
}

}  // namespace isthmus::lab
