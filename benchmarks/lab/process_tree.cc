#include "benchmarks/lab/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "runtime/base/fd.h"

namespace isthmus::lab {
namespace {

std::string read_proc(pid_t pid, const char* file) {
  std::ifstream in(fmt::format("/proc/{}/{}", pid, file), std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return pids;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  ::closedir(directory);
  return pids;
}

// From /proc/PID/stat: "1234 (name, which may hold anything) S 1 ...".
pid_t parent_of(pid_t pid) {
  const std::string stat = read_proc(pid, "stat");
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return -1;
  pid_t parent = -1;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

bool has_environment(pid_t pid, const std::string& entry) {
  const std::string environment = std::string(1, '\0') + read_proc(pid, "environ");
  return environment.find(std::string(1, '\0') + entry + std::string(1, '\0')) != std::string::npos;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void kill_descendants() {
  constexpr useconds_t kPauseUs = 2'000;
  const pid_t self = ::getpid();
  while (true) {
    for (const pid_t pid : all_processes()) {
      if (parent_of(pid) == self) ::kill(pid, SIGKILL);
    }
    pid_t reaped;
    while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0) return;  // no children are left
    ::usleep(kPauseUs);
  }
}

int kill_by_environment(const std::string& entry) {
  int count = 0;
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid() || !has_environment(pid, entry)) continue;
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process.valid() || !has_environment(pid, entry)) continue;
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0) ++count;
  }
  return count;
}

}  // namespace isthmus::lab
