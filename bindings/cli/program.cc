#include "bindings/cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "runtime/base/fd.h"

namespace isthmus::cli {

std::vector<std::string> program_candidates(const std::string& self, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(self).parent_path();
  return {folder / name, folder.parent_path() / "libexec" / name};
}

int become_program(const std::string& name, std::span<char*> arguments) {
  constexpr int kCannotRun = 126;
  constexpr int kNotFound = 127;
  std::string own_name = name;
  arguments.front() = own_name.data();
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> candidates = program_candidates(self, name);
  candidates.push_back(name);  // without a slash: on PATH
  for (const std::string& candidate : candidates) {
    ::execvp(candidate.c_str(), arguments.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    fmt::print(stderr, "isthmus: cannot run {}: {}\n", candidate, errno_message(errno));
    return kCannotRun;
  }
  fmt::print(stderr, "isthmus: {} is not installed; looked for {} and on PATH\n", name,
             fmt::join(candidates.begin(), candidates.end() - 1, ", "));
  return kNotFound;
}

}  // namespace isthmus::cli
