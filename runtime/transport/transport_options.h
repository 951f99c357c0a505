// TransportOptions: what the adapters take from the options of a runtime.
//
// Threads: values.
#pragma once

#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/config/options.h"

namespace isthmus {

struct TransportOptions {
  std::string congestion;    // TCP_CONGESTION of lanes: a name that the kernel admits; empty: the system's
  Duration user_timeout{0};  // a connection ends when nothing is acknowledged for this long; 0: the kernel decides

  std::string ucx_tls = "auto", ucx_devices = "auto";  // see devices.h

  // UCX: what one lane may send without a buffer posted for it at the receiver; well above what a link has under way.
  std::size_t lane_buffer_bytes = 8 * 1024 * 1024;
};

// Asks the kernel about the wanted congestion control: see congestion.h for the errors.
Result<TransportOptions> transport_options(const Options& options);

}  // namespace isthmus
