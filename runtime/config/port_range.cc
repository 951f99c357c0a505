#include "runtime/config/port_range.h"

#include "runtime/config/value_text.h"

namespace isthmus {
namespace {

Result<std::uint16_t> parse_port(std::string_view text) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t port, parse_integer(text));
  if (port < 1 || port > 65535) return invalid_argument("port {} is outside 1..65535", port);
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<PortRange> parse_port_range(std::string_view text) {
  PortRange range;
  if (text.empty()) return range;
  const std::size_t dash = text.find('-');
  ISTHMUS_ASSIGN_OR_RETURN(range.low, parse_port(text.substr(0, dash)));
  range.high = range.low;
  if (dash != std::string_view::npos) {
    ISTHMUS_ASSIGN_OR_RETURN(range.high, parse_port(text.substr(dash + 1)));
  }
  if (range.high < range.low)
    return invalid_argument("the range ends at {}, before its start {}", range.high, range.low);
  return range;
}

}  // namespace isthmus
