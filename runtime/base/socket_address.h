// SocketAddress: a numeric IPv4 or IPv6 address with a port, and its text: "10.77.0.1:40000", "[2001:db8::1]:40000".
//
// Threads: values.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus {

class SocketAddress {
 public:
  SocketAddress() = default;  // of no family
  static Result<SocketAddress> from_host(std::string_view host, std::uint16_t port);
  static Result<SocketAddress> parse(std::string_view text);  // "host:port"; the host is numeric
  static SocketAddress from_native(const sockaddr* address, socklen_t length);
  static Result<SocketAddress> local_of(int fd);
  static Result<SocketAddress> remote_of(int fd);

  const sockaddr* native() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t native_length() const;
  int family() const { return storage_.ss_family; }
  std::uint16_t port() const;
  std::string host() const;  // without brackets
  std::string text() const;

  bool is_loopback() const;
  bool is_wildcard() const;
  bool is_link_local() const;

  bool operator==(const SocketAddress& other) const;  // family, host and port

 private:
  sockaddr_storage storage_{};
};

// "10.0.0.1", 40000 -> "10.0.0.1:40000"; IPv6 gets its brackets.
std::string join_host_port(std::string_view host, std::uint16_t port);

struct HostPort {
  std::string host;  // without brackets; need not be numeric
  std::uint16_t port = 0;
};
Result<HostPort> split_host_port(std::string_view text);

// The numeric addresses of a host name, in the resolver's order; a numeric host is its own answer. Blocks as long as
// the resolver of the system does (its own configuration limits that).
Result<std::vector<std::string>> resolve_host(const std::string& host);

}  // namespace isthmus
