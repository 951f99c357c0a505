#include "runtime/transport/transport_options.h"

#include <algorithm>

#include "runtime/transport/congestion.h"

namespace isthmus {

Result<TransportOptions> transport_options(const Options& options) {
  TransportOptions result;
  ISTHMUS_ASSIGN_OR_RETURN(const CongestionChoice congestion, choose_congestion(options.wan_congestion));
  result.congestion = congestion.name;
  result.user_timeout = std::chrono::milliseconds(options.link_grace_ms);
  result.ucx_tls = options.ucx_tls;
  result.ucx_devices = options.ucx_devices;
  const auto window_bytes = static_cast<std::size_t>(options.lane_window_bytes);
  result.lane_buffer_bytes = std::max(result.lane_buffer_bytes, 2 * window_bytes);
  return result;
}

}  // namespace isthmus
