// The log: lines go to a sink that a binding sets. The library itself never prints.
//
// Threads: any thread. The sink is called with a lock held, one line at a time, and must not log.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace isthmus {

enum class LogLevel : int { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3, kOff = -1 };

using LogSink = std::function<void(LogLevel, std::string_view line)>;

// Replaces the sink of the process; an empty one drops every line (the state at start). Lines above `level` are not
// even formatted.
void set_log_sink(LogLevel level, LogSink sink);

bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view line);
std::string_view log_level_name(LogLevel level);

template <typename... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kError, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kDebug, format, std::forward<Args>(args)...);
}

}  // namespace isthmus
