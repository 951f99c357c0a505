#include "tests/benchmarks/lab/packets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace isthmus::lab {
namespace {

constexpr std::size_t kIpBytes = 20;

void put(std::vector<std::byte>& packet, std::size_t at, std::uint16_t value) {
  packet[at] = static_cast<std::byte>(value >> 8);
  packet[at + 1] = static_cast<std::byte>(value & 0xff);
}

std::uint16_t get(std::span<const std::byte> packet, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(packet[at]) << 8 |
                                    std::to_integer<unsigned>(packet[at + 1]));
}

std::uint32_t add(std::span<const std::byte> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += get(bytes, i);
  if (bytes.size() % 2 == 1) sum += std::to_integer<std::uint32_t>(bytes.back()) << 8;
  return sum;
}

std::uint16_t fold(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint16_t transport_sum(std::span<const std::byte> packet) {
  const std::span<const std::byte> transport = packet.subspan(kIpBytes);
  std::uint32_t sum = add(packet.subspan(12, 8), 0);  // the pseudo header
  sum += std::to_integer<std::uint32_t>(packet[9]) + static_cast<std::uint32_t>(transport.size());
  return fold(add(transport, sum));
}

std::vector<std::byte> ipv4(std::uint8_t protocol, const std::string& source, std::uint16_t source_port,
                            const std::string& destination, std::uint16_t destination_port,
                            std::size_t transport_bytes) {
  std::vector<std::byte> packet(kIpBytes + transport_bytes);
  packet[0] = std::byte{0x45};
  put(packet, 2, static_cast<std::uint16_t>(packet.size()));
  packet[8] = std::byte{64};
  packet[9] = std::byte{protocol};
  inet_pton(AF_INET, source.c_str(), packet.data() + 12);
  inet_pton(AF_INET, destination.c_str(), packet.data() + 16);
  put(packet, 10, static_cast<std::uint16_t>(~fold(add(std::span(packet).first(kIpBytes), 0))));
  put(packet, kIpBytes, source_port);
  put(packet, kIpBytes + 2, destination_port);
  for (std::size_t i = kIpBytes + 20; i < packet.size(); ++i) packet[i] = static_cast<std::byte>(i * 37);
  return packet;
}

}  // namespace

std::vector<std::byte> tcp_packet(const std::string& source, std::uint16_t source_port, const std::string& destination,
                                  std::uint16_t destination_port, std::uint8_t flags, std::size_t payload_bytes) {
  auto packet = ipv4(IPPROTO_TCP, source, source_port, destination, destination_port, 20 + payload_bytes);
  packet[kIpBytes + 12] = std::byte{0x50};
  packet[kIpBytes + 13] = std::byte{flags};
  put(packet, kIpBytes + 16, static_cast<std::uint16_t>(~transport_sum(packet)));
  return packet;
}

std::vector<std::byte> udp_packet(const std::string& source, std::uint16_t source_port, const std::string& destination,
                                  std::uint16_t destination_port) {
  auto packet = ipv4(IPPROTO_UDP, source, source_port, destination, destination_port, 8 + 5);
  put(packet, kIpBytes + 4, 8 + 5);
  put(packet, kIpBytes + 6, static_cast<std::uint16_t>(~transport_sum(packet)));
  return packet;
}

std::vector<std::byte> tcp6_packet(const std::string& source, const std::string& destination) {
  std::vector<std::byte> packet(40 + 20);
  packet[0] = std::byte{0x60};
  packet[6] = std::byte{IPPROTO_TCP};
  inet_pton(AF_INET6, source.c_str(), packet.data() + 8);
  inet_pton(AF_INET6, destination.c_str(), packet.data() + 24);
  put(packet, 40, 1000);
  put(packet, 42, 2000);
  packet[40 + 13] = std::byte{kSyn};
  return packet;
}

bool has_right_checksums(std::span<const std::byte> packet) {
  return fold(add(packet.first(kIpBytes), 0)) == 0xffff && transport_sum(packet) == 0xffff;
}

std::string ends_of(std::span<const std::byte> packet) {
  char source[INET_ADDRSTRLEN], destination[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, packet.data() + 12, source, sizeof(source));
  inet_ntop(AF_INET, packet.data() + 16, destination, sizeof(destination));
  return fmt::format("{}:{} > {}:{}", source, get(packet, kIpBytes), destination, get(packet, kIpBytes + 2));
}

}  // namespace isthmus::lab
