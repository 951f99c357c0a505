// Sites: from what the processes say, or else from measured round-trip times.
//
// Threads: pure functions, but for measure_hosts, which blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/peer_mesh.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {

// Round trip from the lead rank (the lowest) of one host to that of another.
struct HostRoundTrip {
  std::uint32_t from_rank = 0, to_rank = 0;
  std::uint64_t round_trip_us = 0;
};

// The lowest rank on the host of each rank.
std::vector<int> lead_ranks(const std::vector<ProcessInfo>& members);

// All members name a site, or none does (false); some do: invalid_argument, naming the ranks that do not.
Result<bool> sites_are_given(const std::vector<ProcessInfo>& members);

// What `rank` measures: nothing unless it leads its host.
Result<std::vector<HostRoundTrip>> measure_hosts(const std::vector<ProcessInfo>& members, int rank, PeerMesh& mesh,
                                                 TimePoint deadline);

// Joins hosts that are closer than `limit` (directly or through others) and names the sites "site0", "site1", ... in
// the order of their lowest rank. Returns the name for each rank, and logs what was measured.
std::vector<std::string> detect_sites(const std::vector<ProcessInfo>& members,
                                      const std::vector<HostRoundTrip>& measured, Duration limit);

}  // namespace isthmus
