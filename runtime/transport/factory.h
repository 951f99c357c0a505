// Transports by name.
//
// Threads: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

// Those that join processes, as built into this library.
std::vector<std::string_view> transport_names();

struct TransportChoice {
  std::string name;
  std::string reason;  // for `isthmus info`
};

// `wanted` is a name, or auto: the first whose library can be loaded. unsupported: this build has no such transport.
// unavailable: auto, and no library is here.
Result<TransportChoice> choose_transport(std::string_view wanted);

// What was found for a transport of this build, and why which part of it is taken: lines for `isthmus info`.
std::vector<std::string> transport_findings(std::string_view name, const TransportOptions& options);

// Of a name or auto. unsupported: no such transport; the message names those that there are.
Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const TransportOptions& options = {});

}  // namespace isthmus
