#include "benchmarks/lab/border.h"

#include <cstring>

#include "benchmarks/lab/address_plan.h"

namespace isthmus::lab {
namespace {

bool is_address(const IpPacket::Address& address, in_addr host) {
  return std::memcmp(address.data(), &host.s_addr, sizeof(host.s_addr)) == 0;
}

// The private port that a public one leads to; 0: none.
std::uint16_t private_port(const NatSpec& nat, std::uint16_t port) {
  for (const PortForward& forward : nat.forwards)
    if (port >= forward.from.low && port <= forward.from.high)
      return static_cast<std::uint16_t>(forward.to_low + (port - forward.from.low));
  return 0;
}

// The public port of a private one: the one that is forwarded to it, else the same.
std::uint16_t public_port(const NatSpec& nat, std::uint16_t port) {
  for (const PortForward& forward : nat.forwards)
    if (port >= forward.to_low && port - forward.to_low <= forward.from.high - forward.from.low)
      return static_cast<std::uint16_t>(forward.from.low + (port - forward.to_low));
  return port;
}

}  // namespace

Border::Border(const Topology& topology) : sites_(topology.sites) {}

bool Border::leave(int site, std::span<std::byte> bytes) const {
  const NatSpec& nat = spec(site).nat;
  if (!nat.enabled) return true;
  std::optional<IpPacket> packet = IpPacket::parse(bytes);
  if (!packet || !packet->is_ipv4()) return false;
  packet->set_source(site_public_ipv4(site));
  packet->set_source_port(public_port(nat, packet->source_port()));
  return true;
}

bool Border::enter(int site, std::span<std::byte> bytes) const {
  if (is_open(site)) return true;
  std::optional<IpPacket> packet = IpPacket::parse(bytes);
  if (!packet || (spec(site).nat.enabled && !enter_nat(site, *packet))) return false;
  if (!spec(site).inbound_ports || !packet->opens_tcp()) return true;
  const std::uint16_t port = packet->destination_port();
  return port >= spec(site).inbound_ports->low && port <= spec(site).inbound_ports->high;
}

bool Border::enter_nat(int site, IpPacket& packet) const {
  if (!packet.is_ipv4() || !is_address(packet.destination(), site_public_ipv4(site))) return false;
  const std::uint16_t port = private_port(spec(site).nat, packet.destination_port());
  if (port == 0 && (packet.opens_tcp() || packet.is_udp())) return false;
  if (port != 0) packet.set_destination_port(port);
  packet.set_destination(site_ipv4(site));
  return true;
}

}  // namespace isthmus::lab
