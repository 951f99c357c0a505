#include "benchmarks/lab/address_plan.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstdint>

namespace isthmus::lab {
namespace {

constexpr std::size_t kIpv4HeaderBytes = 20;
constexpr std::size_t kIpv4DestinationOffset = 16;
constexpr std::size_t kIpv6HeaderBytes = 40;
constexpr std::size_t kIpv6DestinationOffset = 24;

// fd77:0:0 in bytes; the next two are the site.
constexpr std::uint8_t kIpv6Prefix[6] = {0xfd, 0x77, 0, 0, 0, 0};

}  // namespace

in_addr site_ipv4(int site) {
  return {htonl((10u << 24) | (77u << 16) | (static_cast<std::uint32_t>(site) << 8) | 1u)};
}

in_addr site_public_ipv4(int site) { return {site_ipv4(site).s_addr + htonl(1u << 16)}; }

in6_addr site_ipv6(int site) {
  in6_addr address{};
  for (std::size_t i = 0; i < sizeof(kIpv6Prefix); ++i) address.s6_addr[i] = kIpv6Prefix[i];
  address.s6_addr[7] = static_cast<std::uint8_t>(site);
  address.s6_addr[15] = 1;
  return address;
}

std::string site_ipv4_text(int site) { return fmt::format("10.77.{}.1", site); }

std::string site_public_ipv4_text(int site) { return fmt::format("10.78.{}.1", site); }

std::string site_ipv6_text(int site) { return fmt::format("fd77:0:0:{:x}::1", site); }

int destination_site(std::span<const std::byte> packet, int site_count) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(packet[i]); };
  if (packet.empty()) return -1;
  int site = -1;
  if (at(0) >> 4 == 4 && packet.size() >= kIpv4HeaderBytes) {
    const std::size_t d = kIpv4DestinationOffset;
    if (at(d) == 10 && (at(d + 1) == 77 || at(d + 1) == 78)) site = at(d + 2);
  } else if (at(0) >> 4 == 6 && packet.size() >= kIpv6HeaderBytes) {
    const std::size_t d = kIpv6DestinationOffset;
    for (std::size_t i = 0; i < sizeof(kIpv6Prefix); ++i) {
      if (at(d + i) != kIpv6Prefix[i]) return -1;
    }
    if (at(d + 6) == 0) site = at(d + 7);
  }
  return site < site_count ? site : -1;
}

}  // namespace isthmus::lab
