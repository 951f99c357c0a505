#include "runtime/base/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "runtime/base/fd.h"

namespace isthmus {

Result<SocketAddress> SocketAddress::from_host(std::string_view host, std::uint16_t port) {
  SocketAddress address;
  const std::string text(host);
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage_);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage_);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
  } else {
    return invalid_argument("\"{}\" is not a numeric IPv4 or IPv6 address", host);
  }
  return address;
}

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  ISTHMUS_ASSIGN_OR_RETURN(const HostPort parts, split_host_port(text));
  auto address = from_host(parts.host, parts.port);
  if (!address.ok()) return invalid_argument("\"{}\" has no numeric IPv4 or IPv6 host", text);
  return address;
}

SocketAddress SocketAddress::from_native(const sockaddr* native, socklen_t length) {
  SocketAddress address;
  std::memcpy(&address.storage_, native, std::min<std::size_t>(length, sizeof(address.storage_)));
  return address;
}

Result<SocketAddress> SocketAddress::local_of(int fd) {
  SocketAddress address;
  socklen_t length = sizeof(address.storage_);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage_), &length) == 0) return address;
  return unavailable("the local address of descriptor {} is unknown: {}", fd, errno_message(errno));
}

Result<SocketAddress> SocketAddress::remote_of(int fd) {
  SocketAddress address;
  socklen_t length = sizeof(address.storage_);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage_), &length) == 0) return address;
  return unavailable("the remote address of descriptor {} is unknown: {}", fd, errno_message(errno));
}

socklen_t SocketAddress::native_length() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port
                                    : reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
}

std::string SocketAddress::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr, text, sizeof(text));
  } else if (family() == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr, text, sizeof(text));
  }
  return text;
}

std::string SocketAddress::text() const { return join_host_port(host(), port()); }

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr) >> 24 == 127;
  }
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

bool SocketAddress::is_wildcard() const {
  if (family() == AF_INET) return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr == 0;
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

bool SocketAddress::is_link_local() const {
  if (family() == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr) >> 16 == 0xa9fe;  // 169.254/16
  }
  return family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

bool SocketAddress::operator==(const SocketAddress& other) const {
  if (family() != other.family() || port() != other.port()) return false;
  if (family() == AF_INET6) {
    return IN6_ARE_ADDR_EQUAL(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr,
                              &reinterpret_cast<const sockaddr_in6*>(&other.storage_)->sin6_addr);
  }
  return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in*>(&other.storage_)->sin_addr.s_addr;
}

std::string join_host_port(std::string_view host, std::uint16_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

Result<HostPort> split_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid_argument("\"{}\" is not host:port", text);
  std::string_view host = text.substr(0, colon), port_text = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return invalid_argument("\"{}\" is not host:port: an IPv6 host needs brackets, as in [::1]:40000", text);
  }
  unsigned port = 0;
  const char* end = port_text.data() + port_text.size();
  const auto [stop, error] = std::from_chars(port_text.data(), end, port);
  if (host.empty() || error != std::errc() || stop != end || port < 1 || port > 65535) {
    return invalid_argument("\"{}\" is not host:port with a port in 1..65535", text);
  }
  return HostPort{std::string(host), static_cast<std::uint16_t>(port)};
}

Result<std::vector<std::string>> resolve_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return unavailable("the host name \"{}\" cannot be resolved: {}", host, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::vector<std::string> hosts;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    hosts.push_back(SocketAddress::from_native(entry->ai_addr, entry->ai_addrlen).host());
  }
  return hosts;
}

}  // namespace isthmus
