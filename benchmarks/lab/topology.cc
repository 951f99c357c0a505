#include "benchmarks/lab/topology.h"

#include <algorithm>
#include <numeric>

#include "benchmarks/lab/address_plan.h"

namespace isthmus::lab {

int Topology::world_size() const { return first_rank(site_count()); }

int Topology::first_rank(int site) const {
  return std::accumulate(sites.begin(), sites.begin() + site, 0,
                         [](int sum, const SiteSpec& spec) { return sum + spec.rank_count; });
}

int Topology::find_site(std::string_view name) const {
  const auto found = std::find_if(sites.begin(), sites.end(), [&](const SiteSpec& spec) { return spec.name == name; });
  return found == sites.end() ? -1 : static_cast<int>(found - sites.begin());
}

std::string reachable_ipv4_text(const Topology& topology, int from, int to) {
  const bool is_hidden = from != to && topology.sites[static_cast<std::size_t>(to)].nat.enabled;
  return is_hidden ? site_public_ipv4_text(to) : site_ipv4_text(to);
}

Topology uniform_topology(const TopologyDefaults& defaults) {
  Topology topology;
  for (int site = 0; site < defaults.site_count; ++site) {
    topology.sites.push_back(
        {default_site_name(site), defaults.ranks_per_site, defaults.rate_bits_per_sec, defaults.rate_bits_per_sec});
  }
  topology.pairs.assign(topology.sites.size() * topology.sites.size(), defaults.pair);
  topology.queue = defaults.queue;
  topology.mtu = defaults.mtu;
  return topology;
}

Topology flat_topology(const Topology& topology) {
  Topology flat = topology;
  flat.sites.resize(1);
  flat.sites.front().inbound_ports.reset();
  flat.sites.front().nat = {};
  flat.sites.front().rank_count = topology.world_size();
  flat.pairs.resize(1);
  return flat;
}

Result<PortForward> parse_port_forward(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view to_text = colon == std::string_view::npos ? text : text.substr(colon + 1);
  ISTHMUS_ASSIGN_OR_RETURN(const PortRange from, parse_port_range(text.substr(0, colon)));
  ISTHMUS_ASSIGN_OR_RETURN(const PortRange to, parse_port_range(to_text));
  if (from.low == 0 || to.low == 0 || from.high - from.low != to.high - to.low)
    return invalid_argument("'{}' is not a forward: give PORTS, or PUBLIC:PRIVATE of the same length", text);
  return PortForward{from, to.low};
}

std::string default_site_name(int site) {
  return site < 26 ? std::string(1, static_cast<char>('a' + site)) : fmt::format("s{}", site);
}

}  // namespace isthmus::lab
