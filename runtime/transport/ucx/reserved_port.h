// ReservedPort: a free TCP port that UCX is about to listen at.
//
// Threads: any thread; the reservation holds against all processes of the network namespace that reserve.
//
// UCX tries the ports of its range at random, for ever if none is free, in the thread that makes the worker. So it is
// given one port, that is known to be free, and other processes of ours leave that port alone meanwhile.
//
// UCX binds without SO_REUSEADDR: a port whose last process was killed is not to be had while the kernel keeps that
// one's connections in TIME_WAIT, a minute. Where no other port is free, find() waits for it.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"

namespace isthmus {

class ReservedPort {
 public:
  // Linux keeps TIME_WAIT for 60 s, whatever is set, and its timer may be some seconds late.
  static constexpr Duration kTimeWait = std::chrono::seconds(70);

  // The highest free port of [low, high] (control listeners take the lowest); unavailable: there is none, nor one that
  // TIME_WAIT alone keeps from us and that is free within `patience`.
  static Result<ReservedPort> find(const SocketAddress& host, std::uint16_t low, std::uint16_t high,
                                   Duration patience = kTimeWait);

  std::uint16_t port() const { return port_; }

 private:
  ReservedPort(Fd mark, std::uint16_t port) : mark_(std::move(mark)), port_(port) {}

  Fd mark_;
  std::uint16_t port_;
};

}  // namespace isthmus
