// IP packets for tests: made from text, with right checksums, and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace isthmus::lab {

inline constexpr std::uint8_t kSyn = 0x02, kAck = 0x10;

// IPv4 with `payload_bytes` behind the header of TCP or UDP.
std::vector<std::byte> tcp_packet(const std::string& source, std::uint16_t source_port, const std::string& destination,
                                  std::uint16_t destination_port, std::uint8_t flags, std::size_t payload_bytes = 0);
std::vector<std::byte> udp_packet(const std::string& source, std::uint16_t source_port, const std::string& destination,
                                  std::uint16_t destination_port);
std::vector<std::byte> tcp6_packet(const std::string& source, const std::string& destination);

// Whether the checksums of the IPv4 header and of TCP or UDP are right, by the definition (RFC 1071).
bool has_right_checksums(std::span<const std::byte> packet);

// "10.77.0.1:5 > 10.77.1.1:80"
std::string ends_of(std::span<const std::byte> packet);

}  // namespace isthmus::lab
