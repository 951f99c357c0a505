#include "runtime/transport/loopback/address.h"

#include <charconv>

namespace isthmus {
namespace {

constexpr std::string_view kPrefix = "loopback:";

}  // namespace

std::string format_loopback_address(std::uint64_t number) { return fmt::format("{}{}", kPrefix, number); }

Result<std::uint64_t> parse_loopback_address(std::string_view address) {
  if (address.starts_with(kPrefix)) {
    const std::string_view digits = address.substr(kPrefix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size()) return number;
  }
  return invalid_argument("\"{}\" is not a loopback address (loopback:<number>)", address);
}

}  // namespace isthmus
