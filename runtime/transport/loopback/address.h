// Addresses of the loopback transport: "loopback:<number>".
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

std::string format_loopback_address(std::uint64_t number);
Result<std::uint64_t> parse_loopback_address(std::string_view address);

}  // namespace isthmus
