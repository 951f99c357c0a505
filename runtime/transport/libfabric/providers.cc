#include "runtime/transport/libfabric/providers.h"

#include <algorithm>

#include "runtime/transport/libfabric/fid.h"

namespace isthmus {
namespace {

// Both libraries that we support, 1.17 and 2.1, speak this version of the interface.
constexpr std::uint32_t kApiVersion = FI_VERSION(1, 17);

std::string why_not(const LibfabricProvider& provider) {
  if (provider.name != "tcp") {
    return provider.wants_registration ? "wants every buffer registered, which lanes do not do"
                                       : "not known to carry lanes";
  }
  return provider.wants_registration ? "wants every buffer registered" : "";
}

}  // namespace

std::vector<LibfabricProvider> find_libfabric_providers() {
  std::vector<LibfabricProvider> providers;
  const InfoPtr hints(fi_allocinfo());
  if (!hints) return providers;
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  fi_info* first = nullptr;
  if (fi_getinfo(kApiVersion, nullptr, nullptr, 0, hints.get(), &first) != 0) return providers;
  const InfoPtr owner(first);
  for (const fi_info* info = first; info != nullptr; info = info->next) {
    const std::string name = info->fabric_attr->prov_name;
    auto provider = std::find_if(providers.begin(), providers.end(), [&](const auto& p) { return p.name == name; });
    if (provider == providers.end()) provider = providers.insert(providers.end(), {name, false, {}});
    provider->wants_registration |= (info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    const std::string domain = info->domain_attr->name != nullptr ? info->domain_attr->name : "";
    auto& domains = provider->domains;
    if (!domain.empty() && std::find(domains.begin(), domains.end(), domain) == domains.end())
      domains.push_back(domain);
  }
  return providers;
}

Result<ProviderChoice> choose_libfabric_provider(std::span<const LibfabricProvider> found) {
  const LibfabricProvider* taken = nullptr;
  std::string others;
  for (const LibfabricProvider& provider : found) {
    const std::string reason = why_not(provider);
    if (reason.empty()) {
      taken = &provider;
    } else {
      others += fmt::format("{}{}: {}", others.empty() ? "" : "; ", provider.name, reason);
    }
  }
  if (taken == nullptr)
    return unsupported("no provider of libfabric carries lanes ({})", others.empty() ? "none is here" : others);
  return ProviderChoice{taken->name, others.empty() ? "the only one here" : others};
}

}  // namespace isthmus
