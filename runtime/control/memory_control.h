// Control streams inside one process, for worlds of threads: the twin of TCP without a network.
//
// Threads: MemoryControlNetwork, any thread; its streams and listeners, one thread at a time each.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/control/control_stream.h"
#include "runtime/security/job_secret.h"

namespace isthmus {

// What the listeners of one network share; in the source file.
class MemoryListenerTable;

// Processes (threads) that use the same object reach each other. Hosts and ports are ignored: an address is "memory:7".
class MemoryControlNetwork final : public ControlNetwork {
 public:
  // With a secret its streams export secrets, as those of TLS do. Nobody is kept out: whoever has the object is inside.
  explicit MemoryControlNetwork(std::optional<JobSecret> secret = std::nullopt);
  ~MemoryControlNetwork() override;  // streams and listeners may outlive it

  Result<std::unique_ptr<ControlListener>> listen(const std::string& host, const std::string& advertised_host,
                                                  std::uint16_t port_low, std::uint16_t port_high) override;
  Result<std::unique_ptr<ControlStream>> dial(const std::string& address) override;

 private:
  std::shared_ptr<MemoryListenerTable> table_;
  const std::optional<JobSecret> secret_;
};

}  // namespace isthmus
