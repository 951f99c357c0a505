#include "benchmarks/lab/sysctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus::lab {

Result<std::string> read_sysctl(const std::string& name) {
  const std::string path = "/proc/sys/" + name;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  const ssize_t size = fd.valid() ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
  if (size < 0) return unavailable("cannot read {}: {}", path, errno_message(errno));
  std::string value(buffer.data(), static_cast<std::size_t>(size));
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

Status write_sysctl(const std::string& name, std::string_view value) {
  const std::string path = "/proc/sys/" + name;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) {
    return Status();
  }
  return unavailable("cannot write '{}' to {}: {}", value, path, errno_message(errno));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t\n", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace isthmus::lab
