#include "benchmarks/lab/host_congestion.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "benchmarks/lab/sysctl.h"

namespace isthmus::lab {
namespace {

constexpr const char* kAllowed = "net/ipv4/tcp_allowed_congestion_control";
constexpr const char* kAvailable = "net/ipv4/tcp_available_congestion_control";
constexpr const char* kCurrent = "net/ipv4/tcp_congestion_control";

bool has_word(const std::string& list, const std::string& word) {
  const std::vector<std::string> words = split_words(list);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string note_path(const std::string& base) { return base + "/added-congestion"; }

// Setting an algorithm makes the kernel load its module, even where it then refuses; done in a namespace that is
// thrown away.
void load_module(const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) == 0) [[maybe_unused]]
      const Status ignored = write_sysctl(kCurrent, name);
    ::_exit(0);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace

Status allow_congestion(const std::string& base, const std::string& name) {
  ISTHMUS_ASSIGN_OR_RETURN(std::string available, read_sysctl(kAvailable));
  if (!has_word(available, name)) {
    load_module(name);
    ISTHMUS_ASSIGN_OR_RETURN(available, read_sysctl(kAvailable));
  }
  if (!has_word(available, name)) {
    return unsupported("--congestion {}: this kernel has only: {}", name, available);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::string allowed, read_sysctl(kAllowed));
  if (has_word(allowed, name) || ::geteuid() != 0) return Status();
  {
    std::ofstream note(note_path(base), std::ios::app);
    note << name << '\n' << std::flush;
    if (!note) return unavailable("cannot write {}", note_path(base));
  }
  [[maybe_unused]] const Status ignored = write_sysctl(kAllowed, allowed + " " + name);
  return Status();
}

Status restore_congestion(const std::string& base) {
  std::ifstream note(note_path(base));
  if (!note) return Status();
  std::vector<std::string> added;
  for (std::string word; note >> word;) added.push_back(word);
  ISTHMUS_ASSIGN_OR_RETURN(const std::string allowed, read_sysctl(kAllowed));
  ISTHMUS_RETURN_IF_ERROR(write_sysctl(kAllowed, list_without(allowed, added)));
  std::error_code ignored;
  std::filesystem::remove(note_path(base), ignored);
  return Status();
}

std::string list_without(const std::string& list, const std::vector<std::string>& removed) {
  std::vector<std::string> left;
  for (const std::string& word : split_words(list)) {
    if (std::find(removed.begin(), removed.end(), word) == removed.end()) left.push_back(word);
  }
  return fmt::format("{}", fmt::join(left, " "));
}

}  // namespace isthmus::lab
