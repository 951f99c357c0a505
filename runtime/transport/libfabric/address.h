// Addresses of the libfabric transport: "10.0.0.1:4001", "[2001:db8::1]:4001".
//
// Threads: any thread. Nothing here asks a name server.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

class FabricAddress {
 public:
  FabricAddress() = default;

  // invalid_argument: not a numeric IPv4 or IPv6 address.
  static Result<FabricAddress> from_host(std::string_view host, std::uint16_t port);
  static Result<FabricAddress> from_text(std::string_view text);

  // Of the name that a socket call or libfabric wrote through data(); `length` as it gave it.
  void set_length(std::size_t length) { length_ = static_cast<socklen_t>(length); }

  sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage_); }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }
  static constexpr std::size_t capacity() { return sizeof(sockaddr_storage); }

  bool is_wildcard() const;
  std::uint16_t port() const;
  std::string host() const;  // without brackets
  std::string to_text() const;

  bool operator==(const FabricAddress& other) const;

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

}  // namespace isthmus
