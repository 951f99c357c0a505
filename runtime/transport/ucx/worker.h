// UcxWorker: one UCX worker at one local address, the port that it listens at, and its event descriptor.
//
// Threads: one thread at a time (UCS_THREAD_MODE_SERIALIZED). UCX runs one thread ("async") per process that accepts
// connections.
//
// A worker accepts any number of lanes, but a worker that dials carries one lane only: UCX pairs the endpoints of two
// workers by the order of their making, so that several lanes between two workers could be crossed, and the end of one
// would be the end of another. A worker costs about 1 ms, four descriptors and some 100 KiB.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <set>
#include <string>

#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

struct UcxPlace {
  SocketAddress host;      // of this host; its port is not looked at
  std::uint16_t port = 0;  // a free one, see reserved_port.h; 0: any
};

// What the workers of one local address and port share.
class UcxContext {
 public:
  // unavailable: no interface has the address, or UCX cannot use the interface.
  static Result<std::shared_ptr<UcxContext>> create(const UcxPlace& place, const TransportOptions& options);

  ucp_context_h get() const { return context_.get(); }
  const UcxPlace& place() const { return place_; }

 private:
  struct Cleaner {
    void operator()(ucp_context_h context) const;
  };
  std::unique_ptr<std::remove_pointer_t<ucp_context_h>, Cleaner> context_;
  UcxPlace place_;
};

class UcxWorker {
 public:
  // unsupported: UCX listens elsewhere than it was told to.
  static Result<std::shared_ptr<UcxWorker>> create(std::shared_ptr<UcxContext> context,
                                                   const TransportOptions& options);

  ucp_worker_h get() const { return worker_.get(); }
  const SocketAddress& place() const { return place_; }    // where it listens
  const std::string& address() const { return address_; }  // what a peer's UCX needs, opaque
  int wait_fd() const { return wait_fd_; }

 private:
  struct Destroyer {
    void operator()(ucp_worker_h worker) const;
  };

  Status look_up(const TransportOptions& options, const std::set<int>& sockets_before);

  std::shared_ptr<UcxContext> context_;
  std::unique_ptr<std::remove_pointer_t<ucp_worker_h>, Destroyer> worker_;
  SocketAddress place_;
  std::string address_;
  int wait_fd_ = -1;
};

}  // namespace isthmus
