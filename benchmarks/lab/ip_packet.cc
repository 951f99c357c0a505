#include "benchmarks/lab/ip_packet.h"

#include <algorithm>

namespace isthmus::lab {
namespace {

constexpr std::size_t kIpv4HeaderBytes = 20, kIpv6HeaderBytes = 40, kIpv4ChecksumAt = 10;
constexpr std::size_t kTcpHeaderBytes = 20, kTcpFlagsAt = 13, kTcpChecksumAt = 16;
constexpr std::size_t kUdpHeaderBytes = 8, kUdpChecksumAt = 6;
constexpr std::uint8_t kSyn = 0x02, kAck = 0x10;
constexpr std::uint16_t kFragmentOffsetMask = 0x1fff;

}  // namespace

std::optional<IpPacket> IpPacket::parse(std::span<std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(bytes[i]); };
  const int version = at(0) >> 4;
  IpPacket packet(bytes, version == 4);
  if (version == 4) {
    packet.transport_ = std::size_t{4} * (at(0) & 0x0f);
    if (packet.transport_ < kIpv4HeaderBytes || bytes.size() < packet.transport_) return std::nullopt;
    packet.protocol_ = at(9);
    if ((packet.word(6) & kFragmentOffsetMask) != 0) return packet;
  } else if (version == 6 && bytes.size() >= kIpv6HeaderBytes) {
    packet.transport_ = kIpv6HeaderBytes;
    packet.protocol_ = at(6);
  } else {
    return std::nullopt;
  }
  const std::size_t payload = bytes.size() - packet.transport_;
  packet.has_ports_ = (packet.protocol_ == IPPROTO_TCP && payload >= kTcpHeaderBytes) ||
                      (packet.protocol_ == IPPROTO_UDP && payload >= kUdpHeaderBytes);
  return packet;
}

bool IpPacket::opens_tcp() const {
  if (!is_tcp()) return false;
  const auto flags = std::to_integer<std::uint8_t>(bytes_[transport_ + kTcpFlagsAt]);
  return (flags & (kSyn | kAck)) == kSyn;
}

IpPacket::Address IpPacket::address(bool of_source) const {
  Address result{};
  const std::size_t size = is_ipv4_ ? 4 : 16;
  const std::size_t start = is_ipv4_ ? (of_source ? 12 : 16) : (of_source ? 8 : 24);
  for (std::size_t i = 0; i < size; ++i) result[i] = std::to_integer<std::uint8_t>(bytes_[start + i]);
  return result;
}

std::uint16_t IpPacket::port(bool of_source) const {
  return has_ports_ ? word(transport_ + (of_source ? 0 : 2)) : std::uint16_t{0};
}

void IpPacket::set_host(bool of_source, in_addr host) {
  const std::size_t start = of_source ? 12 : 16;
  const std::uint32_t value = ntohl(host.s_addr);
  for (const auto& [at, half] : {std::pair{start, value >> 16}, std::pair{start + 2, value & 0xffff}}) {
    const auto after = static_cast<std::uint16_t>(half);
    adjust_checksum(kIpv4ChecksumAt, word(at), after);
    replace_covered(at, after);  // by the pseudo header
  }
}

void IpPacket::set_port(bool of_source, std::uint16_t port) {
  if (has_ports_) replace_covered(transport_ + (of_source ? 0 : 2), port);
}

std::uint16_t IpPacket::word(std::size_t at) const {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes_[at]) << 8 |
                                    std::to_integer<unsigned>(bytes_[at + 1]));
}

void IpPacket::set_word(std::size_t at, std::uint16_t value) {
  bytes_[at] = static_cast<std::byte>(value >> 8);
  bytes_[at + 1] = static_cast<std::byte>(value & 0xff);
}

void IpPacket::replace_covered(std::size_t at, std::uint16_t value) {
  const std::uint16_t before = word(at);
  set_word(at, value);
  if (is_tcp()) adjust_checksum(transport_ + kTcpChecksumAt, before, value);
  // UDP: a checksum of 0 means that there is none.
  if (is_udp() && word(transport_ + kUdpChecksumAt) != 0) {
    adjust_checksum(transport_ + kUdpChecksumAt, before, value);
    if (word(transport_ + kUdpChecksumAt) == 0) set_word(transport_ + kUdpChecksumAt, 0xffff);
  }
}

// RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
void IpPacket::adjust_checksum(std::size_t at, std::uint16_t before, std::uint16_t after) {
  std::uint32_t sum = (~std::uint32_t{word(at)} & 0xffff) + (~std::uint32_t{before} & 0xffff) + after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  set_word(at, static_cast<std::uint16_t>(~sum));
}

}  // namespace isthmus::lab
