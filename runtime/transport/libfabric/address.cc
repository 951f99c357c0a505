#include "runtime/transport/libfabric/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace isthmus {
namespace {

const sockaddr_in& as_v4(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in*>(address); }
const sockaddr_in6& as_v6(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in6*>(address); }

Status not_an_address(std::string_view text) {
  return invalid_argument("\"{}\" is not an address of the form 10.0.0.1:4001 or [2001:db8::1]:4001", text);
}

}  // namespace

Result<FabricAddress> FabricAddress::from_host(std::string_view host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string node(host);
  // A shorthand such as "1.2.3" or "80" is numeric to getaddrinfo, but nobody means it.
  const bool is_v6 = host.find(':') != std::string_view::npos;
  const bool is_v4 = std::count(host.begin(), host.end(), '.') == 3;
  if ((!is_v4 && !is_v6) || ::getaddrinfo(node.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return invalid_argument("\"{}\" is not a numeric IPv4 or IPv6 address", host);
  }
  FabricAddress address;
  std::memcpy(&address.storage_, found->ai_addr, found->ai_addrlen);
  address.length_ = found->ai_addrlen;
  ::freeaddrinfo(found);
  return address;
}

Result<FabricAddress> FabricAddress::from_text(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return not_an_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_v6 = host.find(':') != std::string_view::npos;
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || bracketed != is_v6) {
    return not_an_address(text);
  }
  auto address = from_host(host, port);
  if (!address.ok()) return not_an_address(text);
  return address;
}

bool FabricAddress::is_wildcard() const {
  if (data()->sa_family == AF_INET) return as_v4(data()).sin_addr.s_addr == htonl(INADDR_ANY);
  const in6_addr& v6 = as_v6(data()).sin6_addr;
  return IN6_IS_ADDR_UNSPECIFIED(&v6);
}

std::uint16_t FabricAddress::port() const {
  return ntohs(data()->sa_family == AF_INET ? as_v4(data()).sin_port : as_v6(data()).sin6_port);
}

std::string FabricAddress::host() const {
  std::array<char, NI_MAXHOST> text{};
  const int error = ::getnameinfo(data(), length_, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? std::string(text.data()) : std::string();
}

std::string FabricAddress::to_text() const {
  const std::string name = host();
  if (name.empty()) return name;
  return data()->sa_family == AF_INET6 ? fmt::format("[{}]:{}", name, port()) : fmt::format("{}:{}", name, port());
}

bool FabricAddress::operator==(const FabricAddress& other) const {
  if (data()->sa_family != other.data()->sa_family || port() != other.port()) return false;
  if (data()->sa_family == AF_INET) return as_v4(data()).sin_addr.s_addr == as_v4(other.data()).sin_addr.s_addr;
  const in6_addr& mine = as_v6(data()).sin6_addr;
  const in6_addr& theirs = as_v6(other.data()).sin6_addr;
  return IN6_ARE_ADDR_EQUAL(&mine, &theirs);
}

}  // namespace isthmus
