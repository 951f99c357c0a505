// RendezvousServer: the coordinator, a store that clients reach over the network. It is needed only while groups are
// formed.
//
// Threads: start() and the destructor, any thread; the server runs on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/fork_guard.h"
#include "runtime/base/status.h"
#include "runtime/control/control_stream.h"

namespace isthmus {

struct RendezvousOptions {
  std::string host;            // numeric address to bind
  std::uint16_t port_low = 0;  // 0, 0: any free port; else the first free one of [low, high]
  std::uint16_t port_high = 0;
  // A connection that has not greeted by then is closed: strangers and port scanners.
  Duration greeting_limit = std::chrono::seconds(5);
};

class RendezvousServer {
 public:
  // `network` outlives the server.
  static Result<std::unique_ptr<RendezvousServer>> start(ControlNetwork* network, const RendezvousOptions& options);
  // Sends the answers that are under way, for at most a second, and closes every connection.
  ~RendezvousServer();

  const std::string& address() const { return address_; }

 private:
  class Loop;
  RendezvousServer();

  ForkGuard fork_guard_;
  std::string address_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace isthmus
