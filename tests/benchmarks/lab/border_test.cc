#include "benchmarks/lab/border.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/lab/packets.h"

namespace isthmus::lab {
namespace {

// Site 1 is behind NAT; site 2 has a filter.
Topology three_sites() {
  TopologyDefaults defaults;
  defaults.site_count = 3;
  Topology topology = uniform_topology(defaults);
  topology.sites[1].nat.enabled = true;
  topology.sites[1].nat.forwards = {*parse_port_forward("40000-40010"), *parse_port_forward("8000-8001:9000-9001")};
  topology.sites[2].inbound_ports = PortRange{40000, 40050};
  return topology;
}

bool cross(int from, int to, std::vector<std::byte>& packet) {
  const Border border(three_sites());
  return border.leave(from, packet) && border.enter(to, packet);
}

// What the packet looks like on arrival; "dropped".
std::string after(int from, int to, std::vector<std::byte> packet) {
  if (!cross(from, to, packet)) return "dropped";
  EXPECT_TRUE(has_right_checksums(packet));
  return ends_of(packet);
}

TEST(Border, NW_10_ConnectionsComeInAtOpenPortsOnly) {
  EXPECT_EQ(after(0, 2, tcp_packet("10.77.0.1", 5000, "10.77.2.1", 40000, kSyn)), "10.77.0.1:5000 > 10.77.2.1:40000");
  EXPECT_EQ(after(0, 2, tcp_packet("10.77.0.1", 5000, "10.77.2.1", 40050, kSyn)), "10.77.0.1:5000 > 10.77.2.1:40050");
  EXPECT_EQ(after(0, 2, tcp_packet("10.77.0.1", 5000, "10.77.2.1", 40051, kSyn)), "dropped");
  EXPECT_EQ(after(0, 2, tcp_packet("10.77.0.1", 5000, "10.77.2.1", 39999, kSyn)), "dropped");
  auto ipv6 = tcp6_packet("fd77::1", "fd77:0:0:2::1");  // to port 2000
  EXPECT_FALSE(cross(0, 2, ipv6));
}

TEST(Border, NW_10_ConnectionsFromInsideGoOnAndOutsideIsFree) {
  EXPECT_NE(after(0, 2, tcp_packet("10.77.0.1", 80, "10.77.2.1", 5000, kSyn | kAck)), "dropped");
  EXPECT_NE(after(0, 2, tcp_packet("10.77.0.1", 80, "10.77.2.1", 5000, kAck, 100)), "dropped");
  EXPECT_NE(after(2, 0, tcp_packet("10.77.2.1", 5000, "10.77.0.1", 80, kSyn)), "dropped");
  EXPECT_NE(after(0, 2, udp_packet("10.77.0.1", 80, "10.77.2.1", 5000)), "dropped");
}

TEST(Border, NW_11_ThePrivateAddressIsHidden) {
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 5000, "10.77.1.1", 40000, kSyn)), "dropped");
  EXPECT_EQ(after(1, 0, tcp_packet("10.77.1.1", 5000, "10.77.0.1", 80, kSyn)), "10.78.1.1:5000 > 10.77.0.1:80");
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 80, "10.78.1.1", 5000, kSyn | kAck)), "10.77.0.1:80 > 10.77.1.1:5000");
  auto ipv6 = tcp6_packet("fd77::1", "fd77:0:0:1::1");
  EXPECT_FALSE(cross(0, 1, ipv6));
  auto out = tcp6_packet("fd77:0:0:1::1", "fd77::1");
  EXPECT_FALSE(cross(1, 0, out));
}

TEST(Border, NW_11_ForwardedPortsLeadInAndTheirAnswersOut) {
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 5000, "10.78.1.1", 40003, kSyn)), "10.77.0.1:5000 > 10.77.1.1:40003");
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 5000, "10.78.1.1", 8001, kSyn)), "10.77.0.1:5000 > 10.77.1.1:9001");
  EXPECT_EQ(after(1, 0, tcp_packet("10.77.1.1", 9001, "10.77.0.1", 5000, kSyn | kAck)),
            "10.78.1.1:8001 > 10.77.0.1:5000");
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 5000, "10.78.1.1", 9001, kSyn)), "dropped");
  EXPECT_EQ(after(0, 1, tcp_packet("10.77.0.1", 5000, "10.78.1.1", 40011, kSyn)), "dropped");
  EXPECT_EQ(after(0, 1, udp_packet("10.77.0.1", 5000, "10.78.1.1", 8000)), "10.77.0.1:5000 > 10.77.1.1:9000");
  EXPECT_EQ(after(0, 1, udp_packet("10.77.0.1", 5000, "10.78.1.1", 7999)), "dropped");
}

TEST(Border, SitesWithoutABorderAreLeftAlone) {
  std::vector<std::byte> nonsense(50, std::byte{0xee});
  const auto before = nonsense;
  EXPECT_TRUE(cross(0, 0, nonsense));
  EXPECT_EQ(nonsense, before);
  EXPECT_FALSE(cross(0, 1, nonsense));
}

}  // namespace
}  // namespace isthmus::lab
