#include "bindings/torch/stderr_log.h"

#include <isthmus/isthmus.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

namespace isthmus::torch_binding {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"error", "warning", "info", "debug"};

std::atomic<int> log_rank{-1};

isthmus_log_level parse_level(std::string_view name) {
  for (size_t level = 0; level < kLevels.size(); ++level) {
    if (kLevels[level] == name) return static_cast<isthmus_log_level>(level);
  }
  return ISTHMUS_LOG_OFF;
}

// One write() per line, so that lines of several processes do not mix. A standard error that is gone loses them.
void write_line(void*, isthmus_log_level level, const char* line) {
  std::string text = "[isthmus][rank " + std::to_string(log_rank.load()) + "] ";
  text.append(kLevels.at(static_cast<size_t>(level))).append(": ").append(line).push_back('\n');
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data() + written, text.size() - written);
    if (count > 0) written += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) return;
  }
}

}  // namespace

void log_to_stderr(const std::string& level, int rank) {
  log_rank.store(rank);
  const isthmus_log_level parsed = parse_level(level);
  isthmus_set_log(parsed, parsed == ISTHMUS_LOG_OFF ? nullptr : write_line, nullptr);
}

}  // namespace isthmus::torch_binding
