// Addresses of the sites: 10.77.<site>.1/24 and fd77:0:0:<site>::1/64, on the device wan0 of each namespace.
// Behind NAT, the others know 10.78.<site>.1 instead.
//
// Threads: any thread.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <span>
#include <string>

namespace isthmus::lab {

inline constexpr const char* kDeviceName = "wan0";

in_addr site_ipv4(int site);
in6_addr site_ipv6(int site);
in_addr site_public_ipv4(int site);  // 10.78.<site>.1: how the others see a site behind NAT
std::string site_ipv4_text(int site);
std::string site_public_ipv4_text(int site);
std::string site_ipv6_text(int site);

// The site to which an IP packet goes, by its destination address; -1 for an address of no site (multicast, say).
// Private and public addresses lead to the same site.
int destination_site(std::span<const std::byte> packet, int site_count);

}  // namespace isthmus::lab
