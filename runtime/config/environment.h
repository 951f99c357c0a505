// The environment: the one place of Isthmus that reads it.
//
// Threads: any thread, as long as none changes the environment meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/config/options.h"

namespace isthmus {

// `defaults`, with every ISTHMUS_* variable put over them. invalid_argument: a bad value (the message has the variable,
// the value and the range), or an ISTHMUS_* name that is no option (the message has the nearest one).
Result<Options> options_from_environment(Options defaults);

// For programs: a variable that is no option, such as RANK or TMPDIR. Unset and empty both read as nothing.
std::optional<std::string> environment_value(const std::string& name);

}  // namespace isthmus
