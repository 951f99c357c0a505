// Rates, durations and fractions as people write them: "100mbit", "60ms", "0.1%".
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace isthmus {

inline constexpr std::int64_t kUnlimitedRate = 0;
inline constexpr std::int64_t kMinRateBitsPerSec = 8'000;
inline constexpr std::int64_t kMaxRateBitsPerSec = 100'000'000'000;
inline constexpr Duration kMaxDelay = std::chrono::seconds(10);

// Bits per second, from "100mbit", "1.5gbit", "64kbit" or "unlimited".
Result<std::int64_t> parse_rate(std::string_view text);

// From "60ms", "1.5s", "200us" or "30s"; at least zero and at most `max`.
Result<Duration> parse_duration(std::string_view text, Duration max);

// Between 0 and 1, from "0.1%" or "0.001".
Result<double> parse_fraction(std::string_view text);

std::string format_rate(std::int64_t bits_per_sec);
std::string format_duration(Duration duration);
std::string format_fraction(double fraction);

}  // namespace isthmus
