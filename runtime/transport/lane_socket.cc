#include "runtime/transport/lane_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "runtime/base/fd.h"
#include "runtime/base/log.h"

namespace isthmus {
namespace {

constexpr int kKeepaliveProbes = 3;
constexpr int kMaxKeepaliveSeconds = 32'767;  // as the kernel takes it

struct FolderCloser {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The first descriptor that `matches`, or -1.
template <typename Predicate>
int find_descriptor(Predicate matches) {
  const std::unique_ptr<DIR, FolderCloser> folder(::opendir("/proc/self/fd"));
  if (!folder) return -1;
  while (const dirent* entry = ::readdir(folder.get())) {
    int fd = -1;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, fd).ptr == end && matches(fd)) return fd;
  }
  return -1;
}

bool is_named(const Result<SocketAddress>& name, const SocketAddress& expected) {
  return name.ok() && *name == expected;
}

int option_of(int fd, int option) {
  int value = -1;
  socklen_t length = sizeof(value);
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

Status set_number(int fd, int level, int option, const char* name, int value) {
  if (::setsockopt(fd, level, option, &value, sizeof(value)) == 0) return Status();
  return unavailable("{}={} was refused: {}", name, value, errno_message(errno));
}

// A silent peer is probed from a third of the time on; the user timeout then counts for idle lanes as for busy ones.
Status set_timeouts(int fd, Duration limit) {
  const int third = std::clamp(static_cast<int>(to_seconds(limit)) / 3, 1, kMaxKeepaliveSeconds);
  const int interval = std::max(third / kKeepaliveProbes, 1);
  ISTHMUS_RETURN_IF_ERROR(
      set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT", static_cast<int>(to_ms(limit))));
  ISTHMUS_RETURN_IF_ERROR(set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, "TCP_KEEPIDLE", third));
  ISTHMUS_RETURN_IF_ERROR(set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, "TCP_KEEPINTVL", interval));
  ISTHMUS_RETURN_IF_ERROR(set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, "TCP_KEEPCNT", kKeepaliveProbes));
  return set_number(fd, SOL_SOCKET, SO_KEEPALIVE, "SO_KEEPALIVE", 1);
}

}  // namespace

int find_lane_socket(const SocketAddress& local, const SocketAddress& remote) {
  return find_descriptor([&](int fd) {
    return is_named(SocketAddress::local_of(fd), local) && is_named(SocketAddress::remote_of(fd), remote);
  });
}

int find_listening_socket(const SocketAddress& local) {
  return find_descriptor([&](int fd) { return is_named(SocketAddress::local_of(fd), local) && is_listening(fd); });
}

std::set<int> tcp_sockets() {
  std::set<int> sockets;
  find_descriptor([&](int fd) {
    if (option_of(fd, SO_PROTOCOL) == IPPROTO_TCP) sockets.insert(fd);
    return false;
  });
  return sockets;
}

bool is_listening(int fd) { return option_of(fd, SO_ACCEPTCONN) == 1; }

int find_dialled_socket(const std::set<int>& before, const SocketAddress& remote) {
  int found = -1;
  for (const int fd : tcp_sockets()) {
    if (before.contains(fd) || is_listening(fd)) continue;
    const auto peer = SocketAddress::remote_of(fd);
    if (peer.ok() && !(*peer == remote)) continue;
    if (found != -1) return -1;
    found = fd;
  }
  return found;
}

void set_close_on_exec(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Status tune_lane_socket(int fd, const TransportOptions& options) {
  const std::string& name = options.congestion;
  if (!name.empty() &&
      ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) != 0) {
    return unavailable("TCP_CONGESTION={} was refused: {}", name, errno_message(errno));
  }
  return options.user_timeout == Duration(0) ? Status() : set_timeouts(fd, options.user_timeout);
}

void adopt_lane_socket(int fd, const TransportOptions& options) {
  if (fd < 0) return log_debug("the socket of a lane was not found: it keeps the system's settings");
  set_close_on_exec(fd);
  const Status tuned = tune_lane_socket(fd, options);
  if (!tuned.ok()) log_warning("the socket of a lane keeps the system's settings: {}", tuned.to_string());
}

void limit_socket_rate(int fd, const SocketAddress& remote, double bytes_per_sec) {
  if (fd < 0 || !is_named(SocketAddress::remote_of(fd), remote)) return;
  const auto rate = static_cast<std::uint64_t>(bytes_per_sec);
  ::setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));  // a hint: refusal changes nothing else
}

std::uint64_t retransmissions_of(int fd, const SocketAddress& remote) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (fd < 0 || !is_named(SocketAddress::remote_of(fd), remote)) return 0;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_total_retrans : 0;
}

std::string congestion_of(int fd) {
  std::array<char, 32> name{};
  socklen_t length = name.size() - 1;
  if (fd < 0 || ::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return {};
  return name.data();
}

}  // namespace isthmus
