// What is emulated: the sites with their lines, and what lies between each pair of them.
//
// Threads: values; any thread may use its own copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/port_range.h"
#include "runtime/config/units.h"

namespace isthmus::lab {

inline constexpr int kMaxSites = 200;  // each site is one octet of an address
inline constexpr int kMaxRanksPerSite = 256;
inline constexpr int kMinMtu = 1280;  // what IPv6 asks for
inline constexpr int kMaxMtu = 9216;

// Public ports from.low..from.high lead to private ones, from to_low on.
struct PortForward {
  PortRange from;
  std::uint16_t to_low = 0;
};

// The site's private address is hidden; the others know a public one (see border.h).
struct NatSpec {
  bool enabled = false;
  std::vector<PortForward> forwards;
};

struct SiteSpec {
  std::string name;
  int rank_count = 1;
  std::int64_t up_bits_per_sec = kUnlimitedRate;
  std::int64_t down_bits_per_sec = kUnlimitedRate;
  std::optional<PortRange> inbound_ports;  // where TCP connections may come in (as the ranks see it); none: everywhere
  NatSpec nat;
};

struct PairSpec {
  Duration delay{};   // one way
  Duration jitter{};  // each packet waits up to this much longer, evenly distributed
  double loss = 0;    // of packets, each for itself
};

// What holds wherever nothing more special is said.
struct TopologyDefaults {
  int site_count = 2;
  int ranks_per_site = 1;
  std::int64_t rate_bits_per_sec = 100'000'000;
  PairSpec pair{std::chrono::milliseconds(30), Duration::zero(), 0};
  Duration queue = std::chrono::milliseconds(50);
  int mtu = 1500;
};

struct Topology {
  std::vector<SiteSpec> sites;
  std::vector<PairSpec> pairs;  // by from * sites.size() + to; the same in both directions
  Duration queue{};             // of every line, in time at the line's rate
  int mtu = 1500;

  int site_count() const { return static_cast<int>(sites.size()); }
  int world_size() const;
  int first_rank(int site) const;
  PairSpec& pair(int from, int to) { return pairs[static_cast<std::size_t>(from * site_count() + to)]; }
  const PairSpec& pair(int from, int to) const { return pairs[static_cast<std::size_t>(from * site_count() + to)]; }
  int find_site(std::string_view name) const;  // -1: there is none
};

// How a process of site `from` reaches site `to`: by its public address if it is behind NAT.
std::string reachable_ipv4_text(const Topology& topology, int from, int to);

// Sites a, b, c ... that are all alike.
Topology uniform_topology(const TopologyDefaults& defaults);

// The same ranks as one site, named as the first: what the WAN is compared with.
Topology flat_topology(const Topology& topology);

// "40000-40050" or "40000" (the ports stay the same), "50000-50050:40000-40050" or "50000:40000" (public:private).
Result<PortForward> parse_port_forward(std::string_view text);

// "a".."z", then "s26".
std::string default_site_name(int site);

}  // namespace isthmus::lab
