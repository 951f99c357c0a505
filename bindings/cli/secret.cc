#include "bindings/cli/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "bindings/cli/command.h"
#include "runtime/base/fd.h"
#include "runtime/security/job_secret.h"

namespace isthmus::cli {
namespace {

constexpr std::string_view kUsage =
    "Usage: isthmus secret new [--output FILE]\n\n"
    "Prints a job secret, or writes it into FILE, which must not exist and gets mode 0600. Every rank of a job needs "
    "the\n"
    "same one: ISTHMUS_SECRET_FILE=FILE, or ISTHMUS_SECRET.\n";

Status write_file(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return unavailable("{}: {}", path, errno_message(errno));
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return Status();
  const int error = written < 0 ? errno : ENOSPC;
  ::unlink(path.c_str());
  return unavailable("{}: {}", path, errno_message(error));
}

Status make_secret(const std::string& path) {
  ISTHMUS_ASSIGN_OR_RETURN(const JobSecret secret, JobSecret::generate());
  const std::string line = secret.text() + "\n";
  if (!path.empty()) return write_file(path, line);
  fmt::print("{}", line);
  return Status();
}

}  // namespace

int run_secret(std::span<char*> arguments) {
  const auto word = [&](std::size_t i) { return arguments.size() > i ? std::string_view(arguments[i]) : ""; };
  const bool to_file = arguments.size() == 4 && word(2) == "--output" && !word(3).empty();
  if (word(1) != "new" || !(arguments.size() == 2 || to_file)) {
    const bool asked = word(1) == "--help";
    fmt::print(asked ? stdout : stderr, "{}", kUsage);
    return asked ? 0 : kUsageError;
  }
  const Status status = make_secret(to_file ? std::string(word(3)) : std::string());
  if (status.ok()) return 0;
  fmt::print(stderr, "isthmus secret: {}\n", status.message());
  return 1;
}

}  // namespace isthmus::cli
