#include "runtime/bootstrap/addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"

namespace isthmus {
namespace {

constexpr std::uint16_t kAnyPort = 9;  // of the discard service: nothing is sent to it

std::string list_of(const std::vector<InterfaceAddress>& all) {
  std::string text;
  for (const InterfaceAddress& a : all) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", a.interface, a.host);
  return text.empty() ? "none" : text;
}

std::vector<unsigned char> address_bytes(const SocketAddress& address) {
  const auto* native = address.native();
  if (address.family() == AF_INET) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in*>(native)->sin_addr);
    return {bytes, bytes + 4};
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in6*>(native)->sin6_addr);
  return {bytes, bytes + 16};
}

struct Cidr {
  std::vector<unsigned char> prefix;
  std::size_t bits = 0;
};

Result<Cidr> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress base, SocketAddress::from_host(text.substr(0, slash), kAnyPort));
  Cidr cidr{address_bytes(base), 0};
  const std::string_view digits = text.substr(slash + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), cidr.bits);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || cidr.bits > 8 * cidr.prefix.size())
    return invalid_argument("\"{}\" is no CIDR: the length must be 0..{}", text, 8 * cidr.prefix.size());
  return cidr;
}

bool contains(const Cidr& cidr, const std::string& host) {
  const auto address = SocketAddress::from_host(host, kAnyPort);
  if (!address.ok()) return false;
  const std::vector<unsigned char> bytes = address_bytes(*address);
  if (bytes.size() != cidr.prefix.size()) return false;
  for (std::size_t bit = 0; bit < cidr.bits; ++bit) {
    const unsigned mask = 0x80u >> (bit % 8);
    if ((bytes[bit / 8] & mask) != (cidr.prefix[bit / 8] & mask)) return false;
  }
  return true;
}

bool name_matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

// The address from which the kernel would send to `host`; empty: no route. Connecting a datagram socket sends nothing.
std::string source_towards(const std::string& host) {
  const auto remote = SocketAddress::from_host(host, kAnyPort);
  if (!remote.ok()) return "";
  const Fd socket(::socket((*remote).family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || ::connect(socket.get(), (*remote).native(), (*remote).native_length()) != 0) return "";
  const auto local = SocketAddress::local_of(socket.get());
  return local.ok() && !(*local).is_loopback() && !(*local).is_wildcard() ? (*local).host() : "";
}

void add_once(std::vector<std::string>* list, const std::string& host) {
  if (!host.empty() && std::find(list->begin(), list->end(), host) == list->end()) list->push_back(host);
}

// What one entry of a selection picks.
Result<std::vector<std::string>> addresses_that_fit(const std::vector<InterfaceAddress>& all, std::string_view part) {
  const bool is_cidr = part.find('/') != std::string_view::npos;
  Cidr cidr;
  if (is_cidr) {
    ISTHMUS_ASSIGN_OR_RETURN(cidr, parse_cidr(part));
  }
  std::vector<std::string> hosts;
  for (const InterfaceAddress& address : all) {
    if (address.is_loopback && part != address.interface) continue;
    const bool fits =
        is_cidr ? contains(cidr, address.host) : part == address.host || name_matches(part, address.interface);
    if (fits) add_once(&hosts, address.host);
  }
  if (hosts.empty())
    return invalid_argument("wan_interface: no address of this host fits \"{}\"; there are: {}", part, list_of(all));
  return hosts;
}

}  // namespace

Result<std::vector<InterfaceAddress>> interface_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return unavailable("cannot list the network interfaces: {}", errno_message(errno));
  std::vector<InterfaceAddress> all;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto length = static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const SocketAddress address = SocketAddress::from_native(entry->ifa_addr, length);
    if (address.is_link_local()) continue;
    all.push_back({entry->ifa_name, address.host(), (entry->ifa_flags & IFF_LOOPBACK) != 0 || address.is_loopback()});
  }
  ::freeifaddrs(first);
  std::stable_partition(all.begin(), all.end(),
                        [](const InterfaceAddress& a) { return a.host.find(':') == std::string::npos; });
  return all;
}

Result<std::vector<std::string>> select_addresses(const std::vector<InterfaceAddress>& all,
                                                  std::string_view selection) {
  std::vector<std::string> chosen, excluded;
  bool only_exclusions = true;
  for (std::string_view part : split(selection)) {
    const bool is_exclusion = part.starts_with('^');
    if (is_exclusion) part.remove_prefix(1);
    only_exclusions = only_exclusions && is_exclusion;
    ISTHMUS_ASSIGN_OR_RETURN(const std::vector<std::string> fitting, addresses_that_fit(all, part));
    for (const std::string& host : fitting) add_once(is_exclusion ? &excluded : &chosen, host);
  }
  if (only_exclusions)
    for (const InterfaceAddress& address : all)
      if (!address.is_loopback) add_once(&chosen, address.host);
  std::erase_if(chosen, [&](const std::string& host) {
    return std::find(excluded.begin(), excluded.end(), host) != excluded.end();
  });
  if (chosen.empty())
    return invalid_argument("wan_interface: \"{}\" leaves no address of this host; there are: {}", selection,
                            list_of(all));
  return chosen;
}

Result<std::vector<std::string>> candidate_hosts(const Options& options) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<InterfaceAddress> all, interface_addresses());
  if (!options.advertise_address.empty()) return std::vector<std::string>{options.advertise_address};
  if (!options.wan_interface.empty()) return select_addresses(all, options.wan_interface);
  std::vector<std::string> hosts;
  for (const InterfaceAddress& address : all)
    if (!address.is_loopback) add_once(&hosts, address.host);
  return hosts;
}

Result<std::vector<std::string>> choose_bind_hosts(const BindRequest& request, const Options& options) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<InterfaceAddress> all, interface_addresses());
  if (!options.wan_interface.empty()) return select_addresses(all, options.wan_interface);
  std::vector<std::string> chosen;
  if (request.all_on_one_host) {
    for (const InterfaceAddress& address : all)
      if (address.is_loopback) add_once(&chosen, address.host);
    if (chosen.empty()) return unavailable("this host has no loopback address that is up; there are: {}", list_of(all));
    chosen.resize(1);
    return chosen;
  }
  for (const std::string& host : request.peer_hosts) {
    const bool is_own = std::any_of(all.begin(), all.end(), [&](const auto& a) { return a.host == host; });
    if (!is_own) add_once(&chosen, source_towards(host));
  }
  if (!request.store_host.empty()) add_once(&chosen, source_towards(request.store_host));
  // A rank whose peers are all on this host, while the group has remote members too.
  if (chosen.empty() && request.peer_hosts.empty())
    for (const InterfaceAddress& address : all)
      if (!address.is_loopback) add_once(&chosen, address.host);
  if (chosen.empty()) {
    std::string peers;
    for (const std::string& host : request.peer_hosts) peers += (peers.empty() ? "" : ", ") + host;
    return unavailable(
        "peers are on other hosts ({}), but this host has no route to them other than loopback; its "
        "addresses: {}. The option wan_interface (ISTHMUS_WAN_INTERFACE) names one",
        peers.empty() ? "without any address but loopback" : peers, list_of(all));
  }
  return chosen;
}

}  // namespace isthmus
