#include "benchmarks/lab/address_plan.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace isthmus::lab {
namespace {

std::array<std::byte, 40> ipv4_to(const char* address) {
  std::array<std::byte, 40> packet{};
  packet[0] = std::byte{0x45};
  inet_pton(AF_INET, address, packet.data() + 16);
  return packet;
}

std::array<std::byte, 48> ipv6_to(const char* address) {
  std::array<std::byte, 48> packet{};
  packet[0] = std::byte{0x60};
  inet_pton(AF_INET6, address, packet.data() + 24);
  return packet;
}

TEST(AddressPlan, FindsTheSiteOfEachAddress) {
  for (const int site : {0, 1, 10, 199}) {
    EXPECT_EQ(destination_site(ipv4_to(site_ipv4_text(site).c_str()), 200), site);
    EXPECT_EQ(destination_site(ipv6_to(site_ipv6_text(site).c_str()), 200), site);
  }
}

TEST(AddressPlan, APublicAddressLeadsToTheSameSite) {
  for (const int site : {0, 1, 199}) {
    EXPECT_EQ(destination_site(ipv4_to(site_public_ipv4_text(site).c_str()), 200), site);
    in_addr bytes;
    inet_pton(AF_INET, site_public_ipv4_text(site).c_str(), &bytes);
    EXPECT_EQ(bytes.s_addr, site_public_ipv4(site).s_addr);
  }
}

TEST(AddressPlan, TextAndBytesAgree) {
  in_addr ipv4;
  inet_pton(AF_INET, site_ipv4_text(42).c_str(), &ipv4);
  EXPECT_EQ(ipv4.s_addr, site_ipv4(42).s_addr);
  in6_addr ipv6;
  inet_pton(AF_INET6, site_ipv6_text(42).c_str(), &ipv6);
  const in6_addr expected = site_ipv6(42);
  EXPECT_EQ(std::memcmp(&ipv6, &expected, sizeof(ipv6)), 0);
}

TEST(AddressPlan, KnowsNoOtherAddress) {
  EXPECT_EQ(destination_site(ipv4_to("10.79.0.1"), 3), -1);
  EXPECT_EQ(destination_site(ipv4_to("10.77.3.1"), 3), -1);
  EXPECT_EQ(destination_site(ipv4_to("224.0.0.1"), 3), -1);
  EXPECT_EQ(destination_site(ipv6_to("ff02::1"), 3), -1);
  EXPECT_EQ(destination_site(ipv6_to("fd77:0:0:100::1"), 3), -1);
  const auto packet = ipv4_to("10.77.0.1");
  EXPECT_EQ(destination_site(std::span(packet).first(19), 3), -1);
  EXPECT_EQ(destination_site({}, 3), -1);
}

}  // namespace
}  // namespace isthmus::lab
