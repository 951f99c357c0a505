#include "runtime/transport/libfabric/listener.h"

#include "runtime/transport/lane_socket.h"
#include "runtime/transport/libfabric/error.h"

namespace isthmus {
namespace {

// 0, or libfabric's negative error. The provider binds when it makes the endpoint.
int open_at(const LibfabricDomain& domain, const SocketAddress& address, FidPtr<fid_pep>* endpoint) {
  const InfoPtr info = domain.make_info(&address, nullptr);
  if (!info) return -FI_ENOMEM;
  fid_pep* opened = nullptr;
  int error = fi_passive_ep(domain.fabric(), info.get(), &opened, nullptr);
  if (error != 0) return error;
  endpoint->reset(opened);
  error = fi_pep_bind(opened, &domain.events()->fid, 0);
  return error != 0 ? error : fi_listen(opened);
}

Status check_greeting_fits(fid_pep* endpoint) {
  std::size_t bytes = 0;
  std::size_t length = sizeof(bytes);
  const int error = fi_getopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &bytes, &length);
  if (error != 0) return libfabric_error(error, "FI_OPT_CM_DATA_SIZE");
  if (bytes >= kMaxGreetingBytes) return Status();
  return unsupported("libfabric carries {} bytes when a connection is made, a greeting needs {}", bytes,
                     kMaxGreetingBytes);
}

Result<FidPtr<fid_pep>> open_in_range(const LibfabricDomain& domain, const ListenOptions& options) {
  FidPtr<fid_pep> endpoint;
  int error = 0;
  for (unsigned port = options.port_low; port <= options.port_high; ++port) {
    ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress address,
                             SocketAddress::from_host(options.host, static_cast<std::uint16_t>(port)));
    error = open_at(domain, address, &endpoint);
    if (error == 0) return endpoint;
    if (error != -FI_EADDRINUSE && error != -EACCES) {
      return libfabric_error(error, fmt::format("cannot listen at {}", address.text()));
    }
  }
  return libfabric_error(error, fmt::format("no free port for the data listener in the range {}-{} of {}",
                                            options.port_low, options.port_high, options.host));
}

}  // namespace

Result<LibfabricListener> LibfabricListener::create(const LibfabricDomain& domain, const ListenOptions& options,
                                                    const TransportOptions& transport_options) {
  if (options.port_low > options.port_high) {
    return invalid_argument("the port range {}-{} is empty", options.port_low, options.port_high);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress host, SocketAddress::from_host(options.host, 0));
  if (host.is_wildcard() && options.advertised_host.empty()) {
    return invalid_argument("a listener at {} needs an advertised address: peers cannot dial a wildcard", options.host);
  }
  ISTHMUS_ASSIGN_OR_RETURN(FidPtr<fid_pep> endpoint, open_in_range(domain, options));
  ISTHMUS_RETURN_IF_ERROR(check_greeting_fits(endpoint.get()));

  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress bound, name_from([&](void* to, std::size_t* length) {
                             return fi_getname(&endpoint->fid, to, length);
                           }));
  adopt_lane_socket(find_listening_socket(bound), transport_options);

  if (options.advertised_host.empty()) return LibfabricListener(std::move(endpoint), bound.text());
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress advertised,
                           SocketAddress::from_host(options.advertised_host, bound.port()));
  return LibfabricListener(std::move(endpoint), advertised.text());
}

}  // namespace isthmus
