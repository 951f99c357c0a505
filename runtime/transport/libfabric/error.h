// The one place that turns libfabric's error numbers into a Status.
//
// Threads: any thread.
#pragma once

#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

// `error` is libfabric's, with either sign; `what` says which call or lane failed: "cannot listen at 10.0.0.1:80".
Status libfabric_error(int error, std::string_view what);

}  // namespace isthmus
