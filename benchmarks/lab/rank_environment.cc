#include "benchmarks/lab/rank_environment.h"

#include <algorithm>
#include <string_view>

#include "benchmarks/lab/address_plan.h"
#include "runtime/security/job_secret.h"

namespace isthmus::lab {
namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

}  // namespace

std::vector<std::string> rank_environment(const char* const* inherited, const Topology& topology, int site,
                                          int local_rank, int master_port, const std::vector<std::string>& added) {
  const SiteSpec& spec = topology.sites[static_cast<std::size_t>(site)];
  std::vector<std::string> environment{
      fmt::format("RANK={}", topology.first_rank(site) + local_rank),
      fmt::format("WORLD_SIZE={}", topology.world_size()),
      fmt::format("LOCAL_RANK={}", local_rank),
      fmt::format("LOCAL_WORLD_SIZE={}", spec.rank_count),
      fmt::format("MASTER_ADDR={}", reachable_ipv4_text(topology, site, 0)),
      fmt::format("MASTER_PORT={}", master_port),
      fmt::format("ISTHMUS_SITE={}", spec.name),
  };
  environment.insert(environment.end(), added.begin(), added.end());
  const std::vector<std::string> own = environment;
  for (const char* const* entry = inherited; *entry != nullptr; ++entry) {
    const bool replaced =
        std::any_of(own.begin(), own.end(), [&](const std::string& set) { return name_of(set) == name_of(*entry); });
    if (!replaced) environment.emplace_back(*entry);
  }
  return environment;
}

Result<std::string> secret_entry(const char* const* inherited) {
  for (const char* const* entry = inherited; *entry != nullptr; ++entry) {
    for (std::string_view name : {"ISTHMUS_SECRET", "ISTHMUS_SECRET_FILE", "ISTHMUS_SECURITY"}) {
      if (name_of(*entry) == name) return std::string();
    }
  }
  ISTHMUS_ASSIGN_OR_RETURN(const JobSecret secret, JobSecret::generate());
  return "ISTHMUS_SECRET=" + secret.text();
}

}  // namespace isthmus::lab
