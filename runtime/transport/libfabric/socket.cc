#include "runtime/transport/libfabric/socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>

namespace isthmus {
namespace {

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

template <typename NameCall>
bool has_name(int fd, NameCall call, const FabricAddress& expected) {
  FabricAddress address;
  socklen_t length = FabricAddress::capacity();
  if (call(fd, address.data(), &length) != 0) return false;
  return address == expected;
}

bool is_listening(int fd) {
  int value = 0;
  socklen_t length = sizeof(value);
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0;
}

}  // namespace

int find_lane_socket(const FabricAddress& local, const FabricAddress& remote) {
  return find_descriptor(
      [&](int fd) { return has_name(fd, ::getsockname, local) && has_name(fd, ::getpeername, remote); });
}

int find_listening_socket(const FabricAddress& local) {
  return find_descriptor([&](int fd) { return has_name(fd, ::getsockname, local) && is_listening(fd); });
}

void set_close_on_exec(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::string congestion_of(int fd) {
  std::array<char, 32> name{};
  socklen_t length = name.size() - 1;
  if (fd < 0 || ::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return {};
  return name.data();
}

}  // namespace isthmus
