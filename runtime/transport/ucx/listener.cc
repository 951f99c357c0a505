#include "runtime/transport/ucx/listener.h"

#include <optional>

#include "runtime/transport/ucx/address.h"
#include "runtime/transport/ucx/error.h"
#include "runtime/transport/ucx/reserved_port.h"

namespace isthmus {
namespace {

constexpr Duration kEndLimit = std::chrono::seconds(1);

Result<SocketAddress> host_of(const ListenOptions& options) {
  if (options.port_low > options.port_high) {
    return invalid_argument("the port range {}-{} is empty", options.port_low, options.port_high);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress host, SocketAddress::from_host(options.host, 0));
  if (host.is_wildcard()) {
    return unsupported("UCX listens at the address of one interface, not at {}: name one, or use transport=libfabric",
                       options.host);
  }
  if (!options.advertised_host.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress advertised, SocketAddress::from_host(options.advertised_host, 0));
    if (!(advertised == host)) {
      return unsupported(
          "peers cannot dial {} instead of {}: an address of UCX has the interface's own inside; use "
          "transport=libfabric with the option advertise_address",
          options.advertised_host, options.host);
    }
  }
  return host;
}

}  // namespace

Result<std::unique_ptr<UcxListener>> UcxListener::create(const ListenOptions& options,
                                                         const TransportOptions& transport_options) {
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress host, host_of(options));
  const bool any_port = options.port_high == 0;
  std::optional<ReservedPort> port;
  if (!any_port) {
    ISTHMUS_ASSIGN_OR_RETURN(port, ReservedPort::find(host, options.port_low, options.port_high));
  }
  const UcxPlace place{host, any_port ? std::uint16_t{0} : port->port()};
  ISTHMUS_ASSIGN_OR_RETURN(auto context, UcxContext::create(place, transport_options));
  ISTHMUS_ASSIGN_OR_RETURN(auto worker, UcxWorker::create(std::move(context), transport_options));
  return std::unique_ptr<UcxListener>(new UcxListener(std::move(worker)));
}

UcxListener::UcxListener(std::shared_ptr<UcxWorker> worker)
    : worker_(std::move(worker)), address_(UcxAddress{worker_->place(), worker_->address()}.text()) {
  for (Slot& slot : slots_) post(&slot);
}

// What is cancelled is given back by progress, if not at once.
UcxListener::~UcxListener() {
  for (Slot& slot : slots_) cancel(worker_->get(), &slot.request);
  const TimePoint end = SteadyClock::instance().now() + kEndLimit;  // a peer may keep it turning
  while (ucp_worker_progress(worker_->get()) != 0 && SteadyClock::instance().now() < end) {
  }
}

void UcxListener::post(Slot* slot) { post_receive(worker_->get(), slot->bytes, kHelloTag, &slot->request); }

bool UcxListener::next_hello(UcxHello* hello) {
  for (Slot& slot : slots_) {
    if (!slot.request.done) continue;
    const bool is_whole = slot.request.status == UCS_OK;
    auto decoded = is_whole ? decode_hello(ConstBytes(slot.bytes).first(slot.request.bytes))
                            : Result<UcxHello>(ucx_error(slot.request.status, "its hello was not received"));
    post(&slot);
    if (decoded.ok()) {
      *hello = std::move(decoded).value();
      return true;
    }
    refusals_.warn(SteadyClock::instance().now(), "a lane that a peer opens at {} is refused: {}",
                   worker_->place().text(), decoded.status().to_string());
  }
  return false;
}

}  // namespace isthmus
