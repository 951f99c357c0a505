// PortRange: the ports that listeners may use, as the option port_range writes them.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

struct PortRange {
  std::uint16_t low = 0;  // 0, 0: any free port
  std::uint16_t high = 0;
};

// "40000-40050", "40000" or "" (any). invalid_argument says what is wrong with the text.
Result<PortRange> parse_port_range(std::string_view text);

}  // namespace isthmus
