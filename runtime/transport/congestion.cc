#include "runtime/transport/congestion.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <fstream>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

constexpr const char* kPreferred = "bbr";

Status refused(const std::string& name, int error) {
  if (error == EPERM) {
    return unsupported(
        "this process may not use the congestion control \"{}\": net.ipv4.tcp_allowed_congestion_control has \"{}\"",
        name, ipv4_setting("tcp_allowed_congestion_control"));
  }
  if (error == ENOENT) {
    return unsupported(
        "this kernel has no congestion control \"{}\": net.ipv4.tcp_available_congestion_control has \"{}\"", name,
        ipv4_setting("tcp_available_congestion_control"));
  }
  return unsupported("the congestion control \"{}\" was refused: {}", name, errno_message(error));
}

}  // namespace

std::string ipv4_setting(const std::string& name) {
  std::ifstream file("/proc/sys/net/ipv4/" + name);
  std::string line;
  std::getline(file, line);
  return line;
}

Status try_congestion(const std::string& name) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) socket.reset(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return unavailable("cannot make a socket: {}", errno_message(errno));
  const auto length = static_cast<socklen_t>(name.size());
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), length) == 0) return Status();
  return refused(name, errno);
}

Result<CongestionChoice> choose_congestion(std::string_view wanted,
                                           const std::function<Status(const std::string&)>& attempt) {
  if (wanted == "system") return CongestionChoice{"", "asked for: net.ipv4.tcp_congestion_control"};
  const bool is_auto = wanted == "auto";
  const std::string name(is_auto ? kPreferred : wanted);
  const Status status = attempt(name);
  if (status.ok()) return CongestionChoice{name, is_auto ? "auto: this host admits it" : "asked for"};
  if (is_auto) return CongestionChoice{"", "auto: " + std::string(status.message())};
  return status.with_context(fmt::format("option wan_congestion={}", wanted));
}

}  // namespace isthmus
