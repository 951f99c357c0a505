// Values of options as text, read strictly: the whole text is the value, or it is an error.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

Result<std::int64_t> parse_integer(std::string_view text);  // decimal, optional '-'
Result<double> parse_number(std::string_view text);         // finite decimal, optional exponent
Result<bool> parse_switch(std::string_view text);           // 1 0 true false on off yes no

std::string value_text(std::int64_t value);
std::string value_text(double value);  // the shortest text that reads back as the same value
std::string value_text(bool value);    // "on", "off"

}  // namespace isthmus
