#include "runtime/transport/libfabric/domain.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/transport/libfabric/error.h"

namespace isthmus {
namespace {

// Both libraries that we support, 1.17 and 2.1, speak this version of the interface.
constexpr std::uint32_t kApiVersion = FI_VERSION(1, 17);
constexpr const char* kProvider = "tcp";

// The provider is named here and not by FI_PROVIDER: the environment would steer other users of libfabric in the
// process too. No bit of mr_mode is set: providers that want memory registered are left out.
InfoPtr make_hints() {
  InfoPtr hints(fi_allocinfo());
  if (!hints) return hints;
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->mr_mode = 0;
  hints->fabric_attr->prov_name = ::strdup(kProvider);
  return hints;
}

void set_address(void** to, std::size_t* to_length, const SocketAddress* address) {
  std::free(*to);
  *to = nullptr;
  *to_length = 0;
  if (address == nullptr) return;
  *to = std::malloc(address->native_length());  // fi_freeinfo() frees it
  if (*to == nullptr) return;
  std::memcpy(*to, address->native(), address->native_length());
  *to_length = address->native_length();
}

}  // namespace

Result<std::unique_ptr<LibfabricDomain>> LibfabricDomain::create() {
  std::unique_ptr<LibfabricDomain> domain(new LibfabricDomain);
  ISTHMUS_RETURN_IF_ERROR(domain->choose_provider());
  ISTHMUS_RETURN_IF_ERROR(domain->open_queues());
  return domain;
}

Status LibfabricDomain::choose_provider() {
  const InfoPtr hints = make_hints();
  fi_info* found = nullptr;
  const int error = hints ? fi_getinfo(kApiVersion, nullptr, nullptr, 0, hints.get(), &found) : -FI_ENOMEM;
  info_.reset(found);
  if (error != 0) {
    return libfabric_error(error, fmt::format("libfabric {} offers no provider \"{}\" for message endpoints (does "
                                              "FI_PROVIDER exclude it?)",
                                              libfabric_version(), kProvider));
  }
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {
    return unsupported("libfabric's provider \"{}\" wants every buffer registered (FI_MR_LOCAL)", kProvider);
  }
  return Status();
}

Status LibfabricDomain::open_queues() {
  fid_fabric* fabric = nullptr;
  if (const int error = fi_fabric(info_->fabric_attr, &fabric, nullptr)) return libfabric_error(error, "fi_fabric");
  fabric_.reset(fabric);

  fi_eq_attr event_attributes{};
  event_attributes.wait_obj = FI_WAIT_FD;
  fid_eq* events = nullptr;
  if (const int error = fi_eq_open(fabric, &event_attributes, &events, nullptr)) {
    return libfabric_error(error, "fi_eq_open");
  }
  events_.reset(events);

  fid_domain* domain = nullptr;
  if (const int error = fi_domain(fabric, info_.get(), &domain, nullptr)) return libfabric_error(error, "fi_domain");
  domain_.reset(domain);

  fi_cq_attr completion_attributes{};
  completion_attributes.format = FI_CQ_FORMAT_MSG;
  completion_attributes.wait_obj = FI_WAIT_FD;
  fid_cq* completions = nullptr;
  if (const int error = fi_cq_open(domain, &completion_attributes, &completions, nullptr)) {
    return libfabric_error(error, "fi_cq_open");
  }
  completions_.reset(completions);

  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return unavailable("cannot make an epoll descriptor: {}", errno_message(errno));
  ISTHMUS_RETURN_IF_ERROR(watch(&events->fid));
  return watch(&completions->fid);
}

Status LibfabricDomain::watch(fid* queue) {
  int fd = -1;
  if (const int error = fi_control(queue, FI_GETWAIT, &fd)) return libfabric_error(error, "FI_GETWAIT");
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return unavailable("cannot watch a queue of libfabric: {}", errno_message(errno));
}

InfoPtr LibfabricDomain::make_info(const SocketAddress* source, const SocketAddress* destination) const {
  InfoPtr info(fi_dupinfo(info_.get()));
  if (!info) return info;
  info->addr_format = FI_SOCKADDR;
  set_address(&info->src_addr, &info->src_addrlen, source);
  set_address(&info->dest_addr, &info->dest_addrlen, destination);
  return info;
}

Result<FidPtr<fid_ep>> LibfabricDomain::make_endpoint(fi_info* info, void* context) const {
  fid_ep* opened = nullptr;
  if (const int error = fi_endpoint(domain_.get(), info, &opened, context)) {
    return libfabric_error(error, "cannot make an endpoint");
  }
  FidPtr<fid_ep> endpoint(opened);
  int error = fi_ep_bind(opened, &events_->fid, 0);
  if (error == 0) error = fi_ep_bind(opened, &completions_->fid, FI_TRANSMIT | FI_RECV);
  if (error == 0) error = fi_enable(opened);
  if (error != 0) return libfabric_error(error, "cannot set an endpoint up");
  return endpoint;
}

bool LibfabricDomain::may_sleep() const {
  std::array<fid*, 2> queues = {&completions_->fid, &events_->fid};
  return fi_trywait(fabric_.get(), queues.data(), queues.size()) == FI_SUCCESS;
}

std::string libfabric_version() {
  const std::uint32_t version = fi_version();
  return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version));
}

}  // namespace isthmus
