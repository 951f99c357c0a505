#include "runtime/base/log.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace isthmus {
namespace {

// Leaked on purpose: threads may log while the process runs its exit handlers.
struct LogState {
  std::atomic<int> level{static_cast<int>(LogLevel::kOff)};
  std::mutex mutex;
  LogSink sink;
};
LogState& state() {
  static LogState* const instance = new LogState;
  return *instance;
}

}  // namespace

void set_log_sink(LogLevel level, LogSink sink) {
  LogState& log = state();
  std::lock_guard lock(log.mutex);
  log.level.store(static_cast<int>(sink ? level : LogLevel::kOff), std::memory_order_relaxed);
  log.sink = std::move(sink);
}

bool log_enabled(LogLevel level) { return static_cast<int>(level) <= state().level.load(std::memory_order_relaxed); }

void log_line(LogLevel level, std::string_view line) {
  LogState& log = state();
  std::lock_guard lock(log.mutex);
  if (log.sink) log.sink(level, line);
}

std::string_view log_level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kOff: return "off";
    case LogLevel::kError: return "error";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kInfo: return "info";
    case LogLevel::kDebug: return "debug";
  }
  return "unknown";
}

}  // namespace isthmus
