// ReservedPort: a free TCP port that UCX is about to listen at.
//
// Threads: any thread; the reservation holds against all processes of the network namespace that reserve.
//
// UCX tries the ports of its range at random, for ever if none is free, in the thread that makes the worker. So it is
// given one port, that is known to be free, and other processes of ours leave that port alone meanwhile.
#pragma once

#include <cstdint>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"

namespace isthmus {

class ReservedPort {
 public:
  // The highest free port of [low, high] (control listeners take the lowest); unavailable: there is none.
  static Result<ReservedPort> find(const SocketAddress& host, std::uint16_t low, std::uint16_t high);

  std::uint16_t port() const { return port_; }

 private:
  ReservedPort(Fd mark, std::uint16_t port) : mark_(std::move(mark)), port_(port) {}

  Fd mark_;
  std::uint16_t port_;
};

}  // namespace isthmus
