#include "runtime/transport/ucx/reserved_port.h"

#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

// A name in the namespace of abstract Unix sockets: it goes when its descriptor does, even if the process is killed.
Fd mark_port(std::uint16_t port) {
  const std::string name = fmt::format("isthmus ucx port {}", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Fd mark(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::bind(mark.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) mark.reset();
  return mark;
}

// 0, or why not. Without SO_REUSEADDR, as UCX will bind it.
int try_port(const SocketAddress& address) {
  const Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(socket.get(), address.native(), address.native_length()) == 0 ? 0 : errno;
}

// Whether nothing is left at the port but connections that end by themselves: an earlier process was killed. The
// kernel's tables have a line for each socket: number, local address:port, remote address:port, state, all in
// hexadecimal.
bool is_ending(std::uint16_t port) {
  enum State : unsigned { kFinWait1 = 4, kFinWait2 = 5, kTimeWait = 6, kLastAck = 9, kClosing = 11 };
  bool any = false;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      unsigned local_port = 0, state = 0;
      if (std::sscanf(line.c_str(), "%*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local_port, &state) != 2) continue;
      if (local_port != port) continue;
      any = true;
      if (state != kFinWait1 && state != kFinWait2 && state != kTimeWait && state != kLastAck && state != kClosing)
        return false;
    }
  }
  return any;
}

struct Search {
  Fd mark;
  std::uint16_t port = 0;    // 0: none is free
  std::uint16_t ending = 0;  // one that only ending connections keep from us; 0: there is none
};

Result<Search> search(const SocketAddress& host, std::uint16_t low, std::uint16_t high) {
  Search found;
  for (unsigned port = high; port >= low && port != 0; --port) {
    ISTHMUS_ASSIGN_OR_RETURN(const auto address,
                             SocketAddress::from_host(host.host(), static_cast<std::uint16_t>(port)));
    Fd mark = mark_port(address.port());
    if (!mark.valid()) continue;
    const int error = try_port(address);
    if (error == 0) {
      found.mark = std::move(mark);
      found.port = address.port();
      return found;
    }
    if (error != EADDRINUSE && error != EACCES)
      return unavailable("cannot listen at {}: {}", address.text(), errno_message(error));
    if (error == EADDRINUSE && found.ending == 0 && is_ending(address.port())) found.ending = address.port();
  }
  return found;
}

}  // namespace

Result<ReservedPort> ReservedPort::find(const SocketAddress& host, std::uint16_t low, std::uint16_t high,
                                        Duration patience) {
  constexpr Duration kInterval = std::chrono::milliseconds(200);
  const TimePoint end = SteadyClock::instance().now() + patience;
  bool has_waited = false;
  while (true) {
    ISTHMUS_ASSIGN_OR_RETURN(Search found, search(host, low, high));
    if (found.port != 0) return ReservedPort(std::move(found.mark), found.port);
    if (found.ending == 0)
      return unavailable("no free port for the data listener in the range {}-{} of {}", low, high, host.host());
    if (SteadyClock::instance().now() >= end)
      return unavailable(
          "no free port for the data listener in the range {}-{} of {}: connections of an earlier process keep {} in "
          "TIME_WAIT, over which UCX does not bind",
          low, high, host.host(), found.ending);
    if (!std::exchange(has_waited, true))
      log_info(
          "waiting for port {} of {}: connections of an earlier process keep it in TIME_WAIT, for little more than a "
          "minute",
          found.ending, host.host());
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace isthmus
