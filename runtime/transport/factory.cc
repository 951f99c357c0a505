#include "runtime/transport/factory.h"

#include <fmt/ranges.h>

#include <array>

#include "runtime/transport/libfabric/transport.h"

namespace isthmus {
namespace {

struct Entry {
  std::string_view name;
  Result<std::unique_ptr<Transport>> (*make)(const TransportOptions&);
};

constexpr std::array kEntries = {
    Entry{"libfabric", make_libfabric_transport},
};

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const TransportOptions& options) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(options);
  }
  return unsupported("there is no transport \"{}\"; this build has: {}", name, fmt::join(transport_names(), ", "));
}

}  // namespace isthmus
