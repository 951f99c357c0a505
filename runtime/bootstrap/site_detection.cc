#include "runtime/bootstrap/site_detection.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

constexpr int kProbes = 5;

}  // namespace

std::vector<int> lead_ranks(const std::vector<ProcessInfo>& members) {
  std::map<std::string, int> lead_of_host;
  std::vector<int> leads;
  for (int rank = 0; rank < static_cast<int>(members.size()); ++rank)
    leads.push_back(lead_of_host.try_emplace(members[static_cast<std::size_t>(rank)].host_id, rank).first->second);
  return leads;
}

Result<bool> sites_are_given(const std::vector<ProcessInfo>& members) {
  std::string without;
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    if (!members[rank].site.empty()) continue;
    ++count;
    without += fmt::format("{}{}", without.empty() ? "" : ", ", rank);
  }
  if (count == 0) return true;
  if (count == members.size()) return false;
  return invalid_argument(
      "{} of {} ranks have no site (rank {}): set ISTHMUS_SITE on all ranks, or on none to have the "
      "sites detected",
      count, members.size(), without);
}

Result<std::vector<HostRoundTrip>> measure_hosts(const std::vector<ProcessInfo>& members, int rank, PeerMesh& mesh,
                                                 TimePoint deadline) {
  std::vector<HostRoundTrip> measured;
  const std::vector<int> leads = lead_ranks(members);
  if (leads[static_cast<std::size_t>(rank)] != rank) return measured;
  for (int other = 0; other < static_cast<int>(members.size()); ++other) {
    const auto index = static_cast<std::size_t>(other);
    if (other == rank || leads[index] != other) continue;
    ISTHMUS_ASSIGN_OR_RETURN(const Duration trip, mesh.measure_round_trip(members[index].process, kProbes, deadline));
    measured.push_back({static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(other),
                        static_cast<std::uint64_t>(trip.count() / 1000)});
  }
  return measured;
}

std::vector<std::string> detect_sites(const std::vector<ProcessInfo>& members,
                                      const std::vector<HostRoundTrip>& measured, Duration limit) {
  // Each rank points to the lowest rank of its site so far.
  std::vector<int> site = lead_ranks(members);
  for (const HostRoundTrip& trip : measured) {
    log_info("site detection: rank {} to rank {} takes {} us, the limit of a site is {} us", trip.from_rank,
             trip.to_rank, trip.round_trip_us, limit.count() / 1000);
    if (std::chrono::microseconds(trip.round_trip_us) >= limit) continue;
    const int a = site[trip.from_rank], b = site[trip.to_rank];
    for (int& s : site)
      if (s == std::max(a, b)) s = std::min(a, b);
  }
  std::map<int, std::string> names;
  std::vector<std::string> result;
  for (int s : site) result.push_back(names.try_emplace(s, fmt::format("site{}", names.size())).first->second);
  log_info("site detection: {} ranks form {} sites", members.size(), names.size());
  return result;
}

}  // namespace isthmus
