#include "runtime/control/control_networks.h"

#include "runtime/control/tcp_control.h"
#include "runtime/control/tls_control.h"

namespace isthmus {

Result<std::shared_ptr<ControlNetwork>> make_control_network(const SecurityConfig& config) {
  if (!config.secret) return std::shared_ptr<ControlNetwork>(std::make_shared<TcpControlNetwork>());
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<ControlNetwork> network,
                           TlsControlNetwork::create(*config.secret, config.cipher));
  return network;
}

}  // namespace isthmus
