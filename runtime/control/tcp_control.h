// Control streams over plain TCP.
//
// Threads: TcpControlNetwork, any thread; its streams and listeners, one thread at a time each.
//
// Sockets are non-blocking and close-on-exec, have TCP_NODELAY, and never raise SIGPIPE. Addresses are numeric.
#pragma once

#include <memory>
#include <string>

#include "runtime/control/control_stream.h"

namespace isthmus {

class TcpControlNetwork final : public ControlNetwork {
 public:
  // unavailable: the address is not of this host, or no port of the range is free (the message names both).
  Result<std::unique_ptr<ControlListener>> listen(const std::string& host, const std::string& advertised_host,
                                                  std::uint16_t port_low, std::uint16_t port_high) override;
  Result<std::unique_ptr<ControlStream>> dial(const std::string& address) override;
};

}  // namespace isthmus
