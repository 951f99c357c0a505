#include "runtime/config/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace isthmus {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 4> kRateUnits{{{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {"bit", 1}}};
constexpr std::array<Unit, 4> kDurationUnits{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

// The leading number of `text`, which loses it; none when there is no finite number of at least zero.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <std::size_t N>
std::optional<double> parse_with_unit(std::string_view text, const std::array<Unit, N>& units) {
  const std::optional<double> number = take_number(text);
  if (!number) return std::nullopt;
  if (*number == 0 && text.empty()) return 0;
  for (const Unit& unit : units) {
    if (text == unit.name) return *number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> parse_rate(std::string_view text) {
  if (text == "unlimited") return kUnlimitedRate;
  const std::optional<double> bits = parse_with_unit(text, kRateUnits);
  if (!bits || *bits < kMinRateBitsPerSec || *bits > kMaxRateBitsPerSec) {
    return invalid_argument("'{}' is not a rate: give 8kbit to 100gbit (kbit, mbit, gbit), or unlimited", text);
  }
  return std::llround(*bits);
}

Result<Duration> parse_duration(std::string_view text, Duration max) {
  const std::optional<double> ns = parse_with_unit(text, kDurationUnits);
  if (!ns || *ns > static_cast<double>(max.count())) {
    return invalid_argument("'{}' is not a time: give 0ms to {} (us, ms, s)", text, format_duration(max));
  }
  return Duration(std::llround(*ns));
}

Result<double> parse_fraction(std::string_view text) {
  std::string_view rest = text;
  std::optional<double> value = take_number(rest);
  if (value && rest == "%") {
    *value /= 100;
    rest = {};
  }
  if (!value || !rest.empty() || *value > 1) {
    return invalid_argument("'{}' is not a fraction: give 0% to 100%, or 0 to 1", text);
  }
  return *value;
}

std::string format_rate(std::int64_t bits_per_sec) {
  if (bits_per_sec == kUnlimitedRate) return "unlimited";
  const auto bits = static_cast<double>(bits_per_sec);
  if (bits >= 1e9) return fmt::format("{:g}gbit", bits / 1e9);
  if (bits >= 1e6) return fmt::format("{:g}mbit", bits / 1e6);
  return fmt::format("{:g}kbit", bits / 1e3);
}

std::string format_duration(Duration duration) {
  const auto ns = static_cast<double>(duration.count());
  if (ns >= 1e9) return fmt::format("{:g}s", ns / 1e9);
  return fmt::format("{:g}ms", ns / 1e6);
}

std::string format_fraction(double fraction) { return fmt::format("{:g}%", fraction * 100); }

}  // namespace isthmus
