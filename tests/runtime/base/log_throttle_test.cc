#include "runtime/base/log_throttle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace isthmus {
namespace {

TEST(LogThrottle, LogsOneLineASecondAndCountsTheOthers) {
  std::vector<std::string> lines;
  set_log_sink(LogLevel::kWarning, [&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
  LogThrottle throttle;
  const TimePoint start{};
  for (int i = 0; i < 200; ++i) throttle.warn(start + std::chrono::milliseconds(5 * i), "number {}", i);
  throttle.warn(start + std::chrono::seconds(1), "number {}", 200);
  throttle.warn(start + std::chrono::seconds(3), "number {}", 201);
  set_log_sink(LogLevel::kOff, {});
  EXPECT_EQ(lines,
            (std::vector<std::string>{"number 0", "number 200 (199 more since the last such line)", "number 201"}));
}

}  // namespace
}  // namespace isthmus
