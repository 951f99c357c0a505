#include "runtime/config/value_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace isthmus {
namespace {

template <typename T>
Result<T> parse_whole(std::string_view text, std::string_view kind) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return invalid_argument("\"{}\" is too large to be read", text);
  if (error != std::errc() || stop != end) return invalid_argument("\"{}\" is not {}", text, kind);
  return value;
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) { return parse_whole<std::int64_t>(text, "a whole number"); }

Result<double> parse_number(std::string_view text) {
  Result<double> value = parse_whole<double>(text, "a number");
  if (value.ok() && !std::isfinite(*value)) return invalid_argument("\"{}\" is not a finite number", text);
  return value;
}

Result<bool> parse_switch(std::string_view text) {
  for (std::string_view on : {"1", "true", "on", "yes"}) {
    if (text == on) return true;
  }
  for (std::string_view off : {"0", "false", "off", "no"}) {
    if (text == off) return false;
  }
  return invalid_argument("\"{}\" is neither on nor off", text);
}

std::string value_text(std::int64_t value) { return fmt::format("{}", value); }
std::string value_text(double value) { return fmt::format("{}", value); }
std::string value_text(bool value) { return value ? "on" : "off"; }

}  // namespace isthmus
