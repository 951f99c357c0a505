#include "runtime/transport/transport_options.h"

#include "runtime/transport/congestion.h"

namespace isthmus {

Result<TransportOptions> transport_options(const Options& options) {
  TransportOptions result;
  ISTHMUS_ASSIGN_OR_RETURN(const CongestionChoice congestion, choose_congestion(options.wan_congestion));
  result.congestion = congestion.name;
  result.user_timeout = std::chrono::milliseconds(options.link_grace_ms);
  return result;
}

}  // namespace isthmus
