// The one place that turns UCX's status codes into a Status.
//
// Threads: any thread. The library must be loaded.
#pragma once

#include <ucs/type/status.h>

#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

// `what` says which call or lane failed: "cannot make a worker".
Status ucx_error(ucs_status_t status, std::string_view what);

}  // namespace isthmus
