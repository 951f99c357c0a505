#include "benchmarks/lab/tun_device.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "benchmarks/lab/address_plan.h"
#include "benchmarks/lab/sysctl.h"

namespace isthmus::lab {
namespace {

constexpr std::uint32_t kQueuePackets = 20'000;  // in the device, until the forwarder's next look
constexpr std::uint32_t kIpv6PrefixBits = 64;
constexpr std::uint16_t kIpv6RoutePrefixBits = 48;

// As in linux/ipv6.h and linux/ipv6_route.h, which cannot be included beside netinet/in.h.
struct Ipv6AddressRequest {
  in6_addr address;
  std::uint32_t prefix_bits;
  int interface_index;
};
struct Ipv6RouteRequest {
  in6_addr destination;
  in6_addr source;
  in6_addr gateway;
  std::uint32_t type;
  std::uint16_t destination_bits;
  std::uint16_t source_bits;
  std::uint32_t metric;
  unsigned long info;
  std::uint32_t flags;
  int interface_index;
};

ifreq request_for(const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  return request;
}

Status call(int fd, unsigned long code, void* request, const char* what) {
  if (::ioctl(fd, code, request) == 0) return Status();
  return unavailable("cannot {}: {}", what, errno_message(errno));
}

sockaddr ipv4_sockaddr(in_addr address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr = address;
  sockaddr out;
  std::memcpy(&out, &in, sizeof(out));
  return out;
}

Status bring_up(int control, const char* name) {
  ifreq request = request_for(name);
  ISTHMUS_RETURN_IF_ERROR(call(control, SIOCGIFFLAGS, &request, "read the flags of a device"));
  request.ifr_flags |= IFF_UP | IFF_RUNNING;
  return call(control, SIOCSIFFLAGS, &request, "bring a device up");
}

// By netlink: the ioctl is refused in user namespaces.
Status set_queue_length() {
  struct {
    nlmsghdr header;
    ifinfomsg link;
    rtattr attribute;
    std::uint32_t queue_packets;
  } message{};
  message.header = {.nlmsg_len = sizeof(message), .nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK};
  message.link.ifi_index = static_cast<int>(::if_nametoindex(kDeviceName));
  message.attribute = {.rta_len = sizeof(rtattr) + sizeof(std::uint32_t), .rta_type = IFLA_TXQLEN};
  message.queue_packets = kQueuePackets;
  struct {
    nlmsghdr header;
    nlmsgerr error;
    std::byte rest[256];
  } answer{};
  const Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!netlink.valid() || ::send(netlink.get(), &message, sizeof(message), 0) < 0 ||
      ::recv(netlink.get(), &answer, sizeof(answer), 0) < 0) {
    return unavailable("cannot set the queue length of wan0: {}", errno_message(errno));
  }
  if (answer.error.error == 0) return Status();
  return unavailable("cannot set the queue length of wan0: {}", errno_message(-answer.error.error));
}

// To 10.`second`.0.0/16.
Status add_ipv4_route(int control, std::uint32_t second) {
  rtentry route{};
  route.rt_dst = ipv4_sockaddr({htonl((10u << 24) | (second << 16))});
  route.rt_genmask = ipv4_sockaddr({htonl(0xffff0000u)});
  route.rt_flags = RTF_UP;
  std::string device = kDeviceName;
  route.rt_dev = device.data();
  return call(control, SIOCADDRT, &route, "add the IPv4 route to the sites");
}

Status set_ipv4(int control, int site) {
  ifreq request = request_for(kDeviceName);
  request.ifr_addr = ipv4_sockaddr(site_ipv4(site));
  ISTHMUS_RETURN_IF_ERROR(call(control, SIOCSIFADDR, &request, "set the IPv4 address of wan0"));
  request.ifr_netmask = ipv4_sockaddr({htonl(0xffffff00u)});
  return call(control, SIOCSIFNETMASK, &request, "set the netmask of wan0");
}

Status set_ipv6(int site) {
  const Fd control(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control.valid()) return Status();
  Ipv6AddressRequest address{site_ipv6(site), kIpv6PrefixBits, static_cast<int>(::if_nametoindex(kDeviceName))};
  if (::ioctl(control.get(), SIOCSIFADDR, &address) != 0) return Status();  // switched off by a sysctl of the host
  Ipv6RouteRequest route{};
  route.destination = site_ipv6(0);
  route.destination.s6_addr[15] = 0;
  route.destination_bits = kIpv6RoutePrefixBits;
  route.metric = 1;
  route.flags = RTF_UP;
  route.interface_index = address.interface_index;
  return call(control.get(), SIOCADDRT, &route, "add the IPv6 route to the sites");
}

Result<Fd> open_tun() {
  Fd tun(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun.valid()) {
    return unavailable("cannot open /dev/net/tun: {}; the lab needs the kernel's tun driver and the right to use it",
                       errno_message(errno));
  }
  ifreq request = request_for(kDeviceName);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  ISTHMUS_RETURN_IF_ERROR(call(tun.get(), TUNSETIFF, &request, "make the TUN device wan0"));
  return tun;
}

}  // namespace

Result<Fd> create_tun_device(int site, int mtu) {
  ISTHMUS_ASSIGN_OR_RETURN(Fd tun, open_tun());
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control.valid()) return unavailable("cannot make a socket: {}", errno_message(errno));
  // No link-local address and no router solicitation: nothing but the ranks speaks on the WAN. Best effort.
  const std::string ipv6 = std::string("net/ipv6/conf/") + kDeviceName;
  for (const auto& [name, value] : {std::pair{"/addr_gen_mode", "1"}, {"/router_solicitations", "0"}}) {
    [[maybe_unused]] const Status ignored = write_sysctl(ipv6 + name, value);
  }
  ifreq request = request_for(kDeviceName);
  request.ifr_mtu = mtu;
  ISTHMUS_RETURN_IF_ERROR(call(control.get(), SIOCSIFMTU, &request, "set the MTU of wan0"));
  ISTHMUS_RETURN_IF_ERROR(set_queue_length());
  ISTHMUS_RETURN_IF_ERROR(set_ipv4(control.get(), site));
  ISTHMUS_RETURN_IF_ERROR(bring_up(control.get(), "lo"));
  ISTHMUS_RETURN_IF_ERROR(bring_up(control.get(), kDeviceName));
  for (std::uint32_t second : {77u, 78u}) ISTHMUS_RETURN_IF_ERROR(add_ipv4_route(control.get(), second));
  ISTHMUS_RETURN_IF_ERROR(set_ipv6(site));
  return tun;
}

}  // namespace isthmus::lab
