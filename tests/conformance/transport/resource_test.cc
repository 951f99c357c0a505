// Conformance of every transport: descriptors are given back, and are close-on-exec.
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <set>

#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {
namespace {

std::set<int> open_descriptors() {
  std::set<int> descriptors;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return descriptors;
  const int own = ::dirfd(folder);
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != own) descriptors.insert(fd);
  }
  ::closedir(folder);
  return descriptors;
}

TEST_P(TransportConformance, LanesGiveTheirDescriptorsBack) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  std::size_t before = 0;
  for (int round = 0; round < 200; ++round) {
    const LanePair lanes = open_lane(a, b, address, fmt::format("round {}", round));
    (round % 2 == 0 ? a : b)->close(round % 2 == 0 ? lanes.dialled : lanes.accepted);
    ASSERT_TRUE(pump_until({&a, &b}, [&] {
      return a.find(TransportEventKind::kLaneDown, lanes.dialled) &&
             b.find(TransportEventKind::kLaneDown, lanes.accepted);
    }));
    if (round == 9) before = open_descriptors().size();
  }
  EXPECT_LE(open_descriptors().size(), before);
}

TEST_P(TransportConformance, ATransportGivesItsDescriptorsBack) {
  const auto live_and_die = [this] {
    Station a = new_station(), b = new_station();
    open_lane(a, b, listen_at(b), "short");
  };
  live_and_die();
  const auto before = open_descriptors();
  for (int round = 0; round < 5; ++round) live_and_die();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(TransportConformance, APeerThatWasNotLookedAtCostsNothing) {
  const auto live_and_die = [this] {
    Station a = new_station(), b = new_station();
    ASSERT_TRUE(a->connect(listen_at(b), "unseen").ok());
    pump_for({&a}, std::chrono::milliseconds(20));
    for (int i = 0; i < 100; ++i) a.pump();  // on a busy machine the time alone is not enough to send the greeting
    TransportEvent none;
    b->progress({&none, 0});
    b.destroy();
    pump_for({&a}, std::chrono::milliseconds(20));
  };
  live_and_die();
  const auto before = open_descriptors();
  for (int round = 0; round < 5; ++round) live_and_die();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(TransportConformance, SocketsAreCloseOnExec) {
  const auto before = open_descriptors();
  Station a = new_station(), b = new_station();
  open_lane(a, b, listen_at(b), "exec");
  int sockets = 0;
  for (const int fd : open_descriptors()) {
    int type = 0;
    socklen_t length = sizeof(type);
    if (before.contains(fd) || ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0) continue;
    int domain = 0;
    length = sizeof(domain);
    ASSERT_EQ(::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length), 0);
    if (domain != AF_INET && domain != AF_INET6) continue;
    ++sockets;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << "descriptor " << fd;
  }
  EXPECT_GE(sockets, GetParam().uses_sockets ? 3 : 0);
}

}  // namespace
}  // namespace isthmus::conformance
