// LibfabricDomain: the libfabric objects that all lanes and listeners of a transport share.
//
// One completion queue and one event queue serve every lane; both have a descriptor, and those are joined in one.
//
// Threads: one thread at a time, and FI_THREAD_DOMAIN is what libfabric is told, so it takes no locks for us.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"
#include "runtime/transport/libfabric/error.h"
#include "runtime/transport/libfabric/fid.h"

namespace isthmus {

class LibfabricDomain {
 public:
  static Result<std::unique_ptr<LibfabricDomain>> create();

  // A description for a new endpoint; either address may be null.
  InfoPtr make_info(const SocketAddress* source, const SocketAddress* destination) const;

  // An endpoint that is bound to both queues and enabled. `context` comes back with its events.
  Result<FidPtr<fid_ep>> make_endpoint(fi_info* info, void* context) const;

  fid_fabric* fabric() const { return fabric_.get(); }
  fid_eq* events() const { return events_.get(); }
  fid_cq* completions() const { return completions_.get(); }

  // False when something is ready, so that a thread must not sleep on wait_fd().
  bool may_sleep() const;
  int wait_fd() const { return epoll_.get(); }

  std::size_t max_sends() const { return info_->tx_attr->size; }
  std::size_t max_receives() const { return info_->rx_attr->size; }

 private:
  LibfabricDomain() = default;
  Status choose_provider();
  Status open_queues();
  Status watch(fid* queue);

  InfoPtr info_;
  Fd epoll_;
  FidPtr<fid_fabric> fabric_;  // closed last: members go in reverse order
  FidPtr<fid_eq> events_;
  FidPtr<fid_domain> domain_;
  FidPtr<fid_cq> completions_;
};

// The address that fi_getname() or fi_getpeer() writes, as call(to, &length).
template <typename NameCall>
Result<SocketAddress> name_from(NameCall call) {
  sockaddr_storage storage{};
  std::size_t length = sizeof(storage);
  const int error = call(static_cast<void*>(&storage), &length);
  if (error != 0) return libfabric_error(error, "the name of an endpoint");
  return SocketAddress::from_native(reinterpret_cast<const sockaddr*>(&storage), static_cast<socklen_t>(length));
}

// "1.17"
std::string libfabric_version();

}  // namespace isthmus
