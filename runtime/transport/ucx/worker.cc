#include "runtime/transport/ucx/worker.h"

#include <arpa/inet.h>

#include <set>
#include <vector>

#include "runtime/transport/devices.h"
#include "runtime/transport/lane_socket.h"
#include "runtime/transport/ucx/error.h"
#include "runtime/transport/ucx/library.h"

namespace isthmus {
namespace {

// A prefix of its own keeps UCX_TLS and the like, which may be meant for another user of UCX, away from our contexts.
constexpr const char* kPrefix = "ISTHMUS_INTERNAL";

struct ConfigReleaser {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
using ConfigPtr = std::unique_ptr<ucp_config_t, ConfigReleaser>;

struct Setting {
  std::string name, value;
};

// Of the TCP transport, not of UCX as a whole.
std::string transport_key(const char* name) {
  return (ucx_prefixes_transport_keys() ? "TCP_" : "") + std::string(name);
}

std::vector<Setting> settings_of(const UcxPlace& place, const UcxDevices& devices) {
  std::vector<Setting> settings = {
      {"TLS", devices.transports},
      {"NET_DEVICES", devices.devices},
      {"RNDV_THRESH", "inf"},                 // a rendezvous would cost every message a round trip
      {"ZCOPY_THRESH", "inf"},                // 1.13 aborts the process when a peer goes away amid a zero-copy send
      {transport_key("TX_SEG_SIZE"), "64k"},  // what one system call sends; 8k is three times slower
      {transport_key("CONN_NB"), "y"},        // connecting must not block the progress thread
      {transport_key("AF_PRIO"), place.host.family() == AF_INET6 ? "inet6,inet" : "inet,inet6"},
  };
  if (place.port != 0) settings.push_back({transport_key("PORT_RANGE"), fmt::format("{0}-{0}", place.port)});
  return settings;
}

Result<ConfigPtr> read_config(const std::vector<Setting>& settings) {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = ucp_config_read(kPrefix, nullptr, &config)) {
    return ucx_error(status, "ucp_config_read");
  }
  ConfigPtr owner(config);
  for (const Setting& setting : settings) {
    const ucs_status_t status = ucp_config_modify(config, setting.name.c_str(), setting.value.c_str());
    if (status != UCS_OK) return ucx_error(status, fmt::format("UCX's setting {}={}", setting.name, setting.value));
  }
  return owner;
}

// The socket at which a new worker listens; UCX does not tell, but the worker's address has the port in it.
int new_listening_socket(const std::set<int>& before, std::string_view worker_address) {
  for (const int fd : tcp_sockets()) {
    if (before.contains(fd) || !is_listening(fd)) continue;
    const auto local = SocketAddress::local_of(fd);
    const std::uint16_t port = local.ok() ? htons(local->port()) : 0;
    const std::string_view port_bytes(reinterpret_cast<const char*>(&port), sizeof(port));
    if (worker_address.find(port_bytes) != std::string_view::npos) return fd;
  }
  return -1;
}

}  // namespace

void UcxContext::Cleaner::operator()(ucp_context_h context) const {
  const UcxLogCapture capture;
  ucp_cleanup(context);
}

void UcxWorker::Destroyer::operator()(ucp_worker_h worker) const {
  const UcxLogCapture capture;
  ucp_worker_destroy(worker);
}

Result<std::shared_ptr<UcxContext>> UcxContext::create(const UcxPlace& place, const TransportOptions& options) {
  const UcxLogCapture capture;
  const auto found = find_network_devices();
  ISTHMUS_ASSIGN_OR_RETURN(const UcxDevices devices,
                           choose_ucx_devices(found, place.host.host(), options.ucx_tls, options.ucx_devices));
  ISTHMUS_ASSIGN_OR_RETURN(const ConfigPtr config, read_config(settings_of(place, devices)));
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  ucp_context_h opened = nullptr;
  const ucs_status_t status = ucp_init(&params, config.get(), &opened);
  if (status != UCS_OK) {
    return ucx_error(status, fmt::format("UCX {} cannot use {} of {} with TLS={}", ucx_version(), devices.devices,
                                         place.host.host(), devices.transports));
  }
  auto context = std::make_shared<UcxContext>();
  context->context_.reset(opened);
  context->place_ = place;
  return context;
}

Result<std::shared_ptr<UcxWorker>> UcxWorker::create(std::shared_ptr<UcxContext> context,
                                                     const TransportOptions& options) {
  const UcxLogCapture capture;
  const std::set<int> before = tcp_sockets();
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h opened = nullptr;
  if (const ucs_status_t status = ucp_worker_create(context->get(), &params, &opened)) {
    return ucx_error(status, fmt::format("UCX cannot listen at {}", context->place().host.host()));
  }
  auto worker = std::make_shared<UcxWorker>();
  worker->context_ = std::move(context);
  worker->worker_.reset(opened);
  ISTHMUS_RETURN_IF_ERROR(worker->look_up(options, before));
  return worker;
}

Status UcxWorker::look_up(const TransportOptions& options, const std::set<int>& sockets_before) {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  ucs_status_t status = ucp_worker_get_address(worker_.get(), &address, &length);
  if (status != UCS_OK) return ucx_error(status, "ucp_worker_get_address");
  address_.assign(reinterpret_cast<const char*>(address), length);
  ucp_worker_release_address(worker_.get(), address);
  status = ucp_worker_get_efd(worker_.get(), &wait_fd_);
  if (status != UCS_OK) return ucx_error(status, "ucp_worker_get_efd");

  const int listener = new_listening_socket(sockets_before, address_);
  if (listener < 0) return internal_error("UCX {} made a worker whose socket is not found", ucx_version());
  ISTHMUS_ASSIGN_OR_RETURN(place_, SocketAddress::local_of(listener));
  adopt_lane_socket(listener, options);
  const UcxPlace& wanted = context_->place();
  if (place_.host() != wanted.host.host()) {
    return unsupported(
        "UCX listens at {}, the first address of its interface, not at {}: choose that address or "
        "transport=libfabric",
        place_.host(), wanted.host.host());
  }
  if (wanted.port == 0 || wanted.port == place_.port()) return Status();
  return unsupported("UCX {} does not listen at the port {} that it was given, but at {}: use transport=libfabric",
                     ucx_version(), wanted.port, place_.text());
}

}  // namespace isthmus
