// IpPacket: a view of one IPv4 or IPv6 packet: who speaks to whom, and rewriting of addresses and ports (IPv4) with the
// checksums that cover them kept right (RFC 1624).
//
// Threads: values; the bytes belong to the caller. Allocates nothing.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace isthmus::lab {

class IpPacket {
 public:
  using Address = std::array<std::uint8_t, 16>;  // IPv4 in the first four bytes

  // None: not a whole IP header. Only TCP and UDP have ports; later fragments and IPv6 packets with extension headers
  // have none that can be read.
  static std::optional<IpPacket> parse(std::span<std::byte> bytes);

  bool is_ipv4() const { return is_ipv4_; }
  bool is_tcp() const { return has_ports_ && protocol_ == IPPROTO_TCP; }
  bool is_udp() const { return has_ports_ && protocol_ == IPPROTO_UDP; }
  bool opens_tcp() const;  // SYN without ACK: the first packet of a connection

  Address source() const { return address(true); }
  Address destination() const { return address(false); }
  std::uint16_t source_port() const { return port(true); }  // 0 without ports
  std::uint16_t destination_port() const { return port(false); }

  // IPv4 only.
  void set_source(in_addr host) { set_host(true, host); }
  void set_destination(in_addr host) { set_host(false, host); }
  void set_source_port(std::uint16_t port) { set_port(true, port); }
  void set_destination_port(std::uint16_t port) { set_port(false, port); }

 private:
  IpPacket(std::span<std::byte> bytes, bool is_ipv4) : bytes_(bytes), is_ipv4_(is_ipv4) {}

  Address address(bool of_source) const;
  std::uint16_t port(bool of_source) const;
  void set_host(bool of_source, in_addr host);
  void set_port(bool of_source, std::uint16_t port);
  std::uint16_t word(std::size_t at) const;
  void set_word(std::size_t at, std::uint16_t value);
  // Changes a word, and the transport's checksum, which covers it.
  void replace_covered(std::size_t at, std::uint16_t value);
  void adjust_checksum(std::size_t at, std::uint16_t before, std::uint16_t after);

  std::span<std::byte> bytes_;
  bool is_ipv4_;
  bool has_ports_ = false;
  std::uint8_t protocol_ = 0;
  std::size_t transport_ = 0;  // offset of the transport's header
};

}  // namespace isthmus::lab
