// Network: what the planner and the simulator know of the sites: each one's line, and the way between each pair.
//
// Threads: values.
//
// All numbers are integers, so that what one rank measured or read is the same on every rank, bit for bit, after it was
// sent around; a plan is arithmetic on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus {

inline constexpr int kMaxPlannedSites = 4096;
inline constexpr std::int64_t kMaxPlannedRate = 12'500'000'000;  // bytes/s; what "unlimited" counts as

struct SiteLine {
  std::string name;
  int rank_count = 1;
  std::int64_t up_bytes_per_sec = kMaxPlannedRate;
  std::int64_t down_bytes_per_sec = kMaxPlannedRate;
};

struct SitePath {
  std::int64_t delay_us = 0;       // one way
  std::int64_t loss_ppm = 0;       // of packets
  std::int64_t bytes_per_sec = 0;  // of this pair, where something narrower than the lines lies between; 0: nothing
};

struct Network {
  std::vector<SiteLine> sites;
  std::vector<SitePath> paths;           // by from * sites.size() + to
  std::int64_t payload_ppm = 1'000'000;  // of a line's rate, what payload gets: packets have headers

  int site_count() const { return static_cast<int>(sites.size()); }
  SitePath& path(int from, int to) {
    return paths[static_cast<std::size_t>(from) * sites.size() + static_cast<std::size_t>(to)];
  }
  const SitePath& path(int from, int to) const {
    return paths[static_cast<std::size_t>(from) * sites.size() + static_cast<std::size_t>(to)];
  }

  std::string encode() const;
  // corruption: not an encoded network, or one that makes no sense.
  static Result<Network> decode(std::string_view bytes);
};

// Sites a, b, c ... that are all alike.
Network uniform_network(int site_count, int ranks_per_site, const SiteLine& line, const SitePath& path);

// The network of some of the sites, in the order given.
Network select_sites(const Network& network, const std::vector<int>& sites);

std::string default_site_name(int site);  // "a".."z", then "s26", as in the lab

// The share of a line's rate that is left for payload in full TCP/IP packets of `mtu` bytes with time stamps, when
// acknowledgements take a little of the other direction.
std::int64_t payload_share_ppm(int mtu);

}  // namespace isthmus
