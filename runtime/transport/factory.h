// Transports by name.
//
// Threads: any thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

// Those that join processes, as built into this library.
std::vector<std::string_view> transport_names();

// unsupported: no such transport; the message names those that there are.
Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const TransportOptions& options = {});

}  // namespace isthmus
