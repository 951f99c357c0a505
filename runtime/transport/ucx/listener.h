// UcxListener: a worker that accepts lanes, and the buffers for the hellos of those who dial.
//
// Threads: the thread of the transport.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "runtime/base/log_throttle.h"
#include "runtime/base/status.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/hello.h"
#include "runtime/transport/ucx/request.h"
#include "runtime/transport/ucx/worker.h"

namespace isthmus {

class UcxListener {
 public:
  // unsupported: a wildcard, or an advertised address: UCX dials the address that the interface has.
  static Result<std::unique_ptr<UcxListener>> create(const ListenOptions& options,
                                                     const TransportOptions& transport_options);
  ~UcxListener();
  UcxListener(const UcxListener&) = delete;  // UCX holds pointers to it
  UcxListener& operator=(const UcxListener&) = delete;

  const std::string& address() const { return address_; }  // what peers dial
  const std::shared_ptr<UcxWorker>& worker() const { return worker_; }

  // The next hello that has come; broken ones are logged and dropped. False: none.
  bool next_hello(UcxHello* hello);

 private:
  static constexpr std::size_t kSlots = 16;

  struct Slot {
    UcxRequest request;
    std::array<std::byte, kMaxHelloBytes> bytes{};
  };

  explicit UcxListener(std::shared_ptr<UcxWorker> worker);
  void post(Slot* slot);

  std::shared_ptr<UcxWorker> worker_;
  std::string address_;
  std::array<Slot, kSlots> slots_;
  LogThrottle refusals_;
};

}  // namespace isthmus
