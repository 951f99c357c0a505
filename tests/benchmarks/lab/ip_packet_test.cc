#include "benchmarks/lab/ip_packet.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "tests/benchmarks/lab/packets.h"

namespace isthmus::lab {
namespace {

TEST(IpPacket, ReadsEnds) {
  auto bytes = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kSyn);
  const auto packet = IpPacket::parse(bytes);
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->is_ipv4());
  EXPECT_TRUE(packet->is_tcp());
  EXPECT_EQ(packet->source_port(), 5000);
  EXPECT_EQ(packet->destination_port(), 80);
  EXPECT_EQ(packet->source()[3], 1);
  EXPECT_EQ(packet->destination()[2], 1);
}

TEST(IpPacket, ASynWithoutAckOpensAConnection) {
  for (const auto& [flags, opens] : {std::pair{kSyn, true}, {std::uint8_t(kSyn | kAck), false}, {kAck, false}}) {
    auto bytes = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, flags);
    EXPECT_EQ(IpPacket::parse(bytes)->opens_tcp(), opens);
  }
  auto udp = udp_packet("10.77.0.1", 5000, "10.77.1.1", 80);
  EXPECT_FALSE(IpPacket::parse(udp)->opens_tcp());
}

TEST(IpPacket, RewritingKeepsChecksumsRight) {
  for (std::size_t payload : {0, 1, 1000}) {
    for (const char* host : {"10.78.1.1", "0.0.0.0", "255.255.255.255", "1.2.3.4"}) {
      for (bool is_tcp : {true, false}) {
        auto bytes = is_tcp ? tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kAck, payload)
                            : udp_packet("10.77.0.1", 5000, "10.77.1.1", 80);
        ASSERT_TRUE(has_right_checksums(bytes));
        in_addr address{};
        inet_pton(AF_INET, host, &address);
        auto packet = *IpPacket::parse(bytes);
        packet.set_source(address);
        packet.set_source_port(65535);
        packet.set_destination(address);
        packet.set_destination_port(1);
        EXPECT_TRUE(has_right_checksums(bytes)) << host << " " << payload << " " << is_tcp;
        EXPECT_EQ(ends_of(bytes), std::string(host) + ":65535 > " + host + ":1");
      }
    }
  }
}

TEST(IpPacket, AUdpChecksumThatIsAbsentStaysAbsent) {
  auto bytes = udp_packet("10.77.0.1", 5000, "10.77.1.1", 80);
  bytes[26] = bytes[27] = std::byte{0};
  IpPacket::parse(bytes)->set_source_port(7);
  EXPECT_EQ(bytes[26], std::byte{0});
  EXPECT_EQ(bytes[27], std::byte{0});
}

TEST(IpPacket, ReadsIpv6) {
  auto bytes = tcp6_packet("fd77::1", "fd77:0:0:1::1");
  const auto packet = IpPacket::parse(bytes);
  ASSERT_TRUE(packet);
  EXPECT_FALSE(packet->is_ipv4());
  EXPECT_TRUE(packet->opens_tcp());
  EXPECT_EQ(packet->destination_port(), 2000);
  EXPECT_EQ(packet->destination()[7], 1);
}

TEST(IpPacket, ReadsNothingBeyondTheEnd) {
  const auto whole = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kSyn);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto bytes = whole;
    bytes.resize(size);
    bytes.shrink_to_fit();
    const auto packet = IpPacket::parse(bytes);
    EXPECT_EQ(packet.has_value(), size >= 20);
    if (packet) {
      EXPECT_FALSE(packet->is_tcp());
    }
  }
  auto options = whole;
  options[0] = std::byte{0x4f};  // a header of 60 bytes
  EXPECT_FALSE(IpPacket::parse(options));
}

TEST(IpPacket, LaterFragmentsHaveNoPorts) {
  auto bytes = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kSyn);
  bytes[7] = std::byte{3};
  EXPECT_FALSE(IpPacket::parse(bytes)->is_tcp());
  EXPECT_EQ(IpPacket::parse(bytes)->source_port(), 0);
}

}  // namespace
}  // namespace isthmus::lab
