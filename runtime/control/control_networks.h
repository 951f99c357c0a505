// The control network that a security configuration asks for.
//
// Threads: any thread.
#pragma once

#include <memory>

#include "runtime/control/control_stream.h"
#include "runtime/security/security_config.h"

namespace isthmus {

// TLS where there is a secret, else plain TCP.
Result<std::shared_ptr<ControlNetwork>> make_control_network(const SecurityConfig& config);

}  // namespace isthmus
