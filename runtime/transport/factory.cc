#include "runtime/transport/factory.h"

#include <fmt/ranges.h>

#include <algorithm>

#ifdef ISTHMUS_HAS_LIBFABRIC
#include "runtime/transport/libfabric/library.h"
#include "runtime/transport/libfabric/providers.h"
#include "runtime/transport/libfabric/transport.h"
#endif
#ifdef ISTHMUS_HAS_UCX
#include "runtime/transport/devices.h"
#include "runtime/transport/ucx/library.h"
#include "runtime/transport/ucx/transport.h"
#endif

namespace isthmus {
namespace {

struct Entry {
  std::string_view name;
  Status (*load)();
  Result<std::unique_ptr<Transport>> (*make)(const TransportOptions&);
  std::vector<std::string> (*findings)(const TransportOptions&);
};

#ifdef ISTHMUS_HAS_LIBFABRIC
std::vector<std::string> libfabric_findings(const TransportOptions&) {
  std::vector<std::string> lines;
  const auto found = find_libfabric_providers();
  for (const LibfabricProvider& provider : found) {
    lines.push_back(fmt::format("provider {}: {}", provider.name, fmt::join(provider.domains, ", ")));
  }
  const auto choice = choose_libfabric_provider(found);
  lines.push_back(choice.ok() ? fmt::format("taken: {} ({})", choice->name, choice->reason)
                              : choice.status().to_string());
  return lines;
}
#endif

#ifdef ISTHMUS_HAS_UCX
std::vector<std::string> ucx_findings(const TransportOptions& options) {
  return describe_ucx_devices(find_network_devices(), options.ucx_tls, options.ucx_devices);
}
#endif

// In the order in which auto tries them: libfabric serves more networks (any local address, NAT, IPv6).
constexpr Entry kEntries[] = {
#ifdef ISTHMUS_HAS_LIBFABRIC
    {"libfabric", load_libfabric, make_libfabric_transport, libfabric_findings},
#endif
#ifdef ISTHMUS_HAS_UCX
    {"ucx", load_ucx, make_ucx_transport, ucx_findings},
#endif
};

Result<TransportChoice> choose_any() {
  std::string reasons;
  for (const Entry& entry : kEntries) {
    const Status loaded = entry.load();
    if (loaded.ok()) {
      return TransportChoice{std::string(entry.name),
                             reasons.empty() ? "auto: the first choice, and it is here" : "auto" + reasons};
    }
    reasons += fmt::format("; not {}: {}", entry.name, loaded.message());
  }
  return unavailable("no transport can be loaded{}", reasons);
}

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

Result<TransportChoice> choose_transport(std::string_view wanted) {
  if (wanted == "auto") return choose_any();
  for (const Entry& entry : kEntries) {
    if (entry.name == wanted) return TransportChoice{std::string(wanted), "asked for"};
  }
  return unsupported("there is no transport \"{}\"; this build has: {}", wanted, fmt::join(transport_names(), ", "));
}

std::vector<std::string> transport_findings(std::string_view name, const TransportOptions& options) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name && entry.load().ok()) return entry.findings(options);
  }
  return {};
}

Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const TransportOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(const TransportChoice choice, choose_transport(name));
  const auto* entry =
      std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == choice.name; });
  return entry->make(options);
}

}  // namespace isthmus
