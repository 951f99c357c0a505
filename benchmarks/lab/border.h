// Border: what the router of each site does to packets: a filter of inbound connections, and NAT.
//
// Filter: TCP connections may be opened into the site at certain ports only. Whatever is not let in vanishes silently.
//
// NAT (IPv4): the other sites know only the site's public address. Packets that leave have it as their source; packets
// to it reach a forwarded port, or a port from which a connection was opened from inside. Ports are kept, unless a
// forward changes them. The private address cannot be reached, IPv6 neither, nor the public address from inside.
//
// Threads: any thread. Keeps no state: TCP that opens no connection is taken to belong to one.
#pragma once

#include "benchmarks/lab/ip_packet.h"
#include "benchmarks/lab/topology.h"

namespace isthmus::lab {

class Border {
 public:
  explicit Border(const Topology& topology);

  // Rewrite the packet as the site's border does. False: it is dropped.
  bool leave(int site, std::span<std::byte> packet) const;
  bool enter(int site, std::span<std::byte> packet) const;

 private:
  bool enter_nat(int site, IpPacket& packet) const;
  const SiteSpec& spec(int site) const { return sites_[static_cast<std::size_t>(site)]; }
  bool is_open(int site) const { return !spec(site).nat.enabled && !spec(site).inbound_ports; }

  std::vector<SiteSpec> sites_;
};

}  // namespace isthmus::lab
