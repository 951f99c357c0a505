#include "runtime/transport/lane_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "runtime/base/fd.h"
#include "runtime/transport/congestion.h"

namespace isthmus {
namespace {

int number(int fd, int level, int option) {
  int value = -1;
  socklen_t length = sizeof(value);
  EXPECT_EQ(::getsockopt(fd, level, option, &value, &length), 0);
  return value;
}

class LaneSocket : public ::testing::Test {
 protected:
  LaneSocket() {
    const SocketAddress any = *SocketAddress::from_host("127.0.0.1", 0);
    EXPECT_EQ(::bind(listener_.get(), any.native(), any.native_length()), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    address_ = *SocketAddress::local_of(listener_.get());
  }
  void connect() {
    ASSERT_EQ(::connect(dialler_.get(), address_.native(), address_.native_length()), 0);
    accepted_.reset(::accept(listener_.get(), nullptr, nullptr));
    local_ = *SocketAddress::local_of(dialler_.get());
  }

  Fd listener_{::socket(AF_INET, SOCK_STREAM, 0)}, dialler_{::socket(AF_INET, SOCK_STREAM, 0)}, accepted_;
  SocketAddress address_, local_;
};

TEST_F(LaneSocket, IsFoundByItsEnds) {
  connect();
  EXPECT_EQ(find_listening_socket(address_), listener_.get());
  EXPECT_EQ(find_lane_socket(local_, address_), dialler_.get());
  EXPECT_EQ(find_lane_socket(address_, local_), accepted_.get());
  EXPECT_EQ(find_lane_socket(address_, address_), -1);
  EXPECT_EQ(find_listening_socket(local_), -1);
}

TEST_F(LaneSocket, IsFoundAsTheOneThatWasOpened) {
  const std::set<int> before = tcp_sockets();
  EXPECT_TRUE(before.contains(listener_.get()));
  const Fd fresh(::socket(AF_INET, SOCK_STREAM, 0)), datagrams(::socket(AF_INET, SOCK_DGRAM, 0));
  ASSERT_EQ(::connect(fresh.get(), address_.native(), address_.native_length()), 0);
  EXPECT_EQ(find_dialled_socket(before, address_), fresh.get());
  EXPECT_EQ(find_dialled_socket(tcp_sockets(), address_), -1);
  EXPECT_FALSE(tcp_sockets().contains(datagrams.get()));
}

TEST_F(LaneSocket, IsClosedOnExecOnceAdopted) {
  connect();
  EXPECT_EQ(::fcntl(dialler_.get(), F_GETFD) & FD_CLOEXEC, 0);
  adopt_lane_socket(dialler_.get(), {});
  EXPECT_NE(::fcntl(dialler_.get(), F_GETFD) & FD_CLOEXEC, 0);
  adopt_lane_socket(-1, {});
}

// Reno is in every kernel and allowed to everyone. Accepted sockets inherit from the listening one.
TEST_F(LaneSocket, IsTunedAtBothEnds) {
  TransportOptions options;
  options.congestion = "reno";
  options.user_timeout = std::chrono::seconds(30);
  ASSERT_TRUE(tune_lane_socket(listener_.get(), options).ok());
  ASSERT_TRUE(tune_lane_socket(dialler_.get(), options).ok());
  connect();
  for (const int fd : {dialler_.get(), accepted_.get()}) {
    EXPECT_EQ(congestion_of(fd), "reno");
    EXPECT_EQ(number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
    EXPECT_EQ(number(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(number(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
    EXPECT_EQ(number(fd, IPPROTO_TCP, TCP_KEEPINTVL), 3);
    EXPECT_EQ(number(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
  }
}

TEST_F(LaneSocket, KeepsTheSystemsSettingsWithoutOptions) {
  const std::string system = congestion_of(dialler_.get());
  EXPECT_EQ(system, ipv4_setting("tcp_congestion_control"));
  ASSERT_TRUE(tune_lane_socket(dialler_.get(), {}).ok());
  EXPECT_EQ(congestion_of(dialler_.get()), system);
  EXPECT_EQ(number(dialler_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
  EXPECT_TRUE(congestion_of(-1).empty());
}

TEST_F(LaneSocket, SaysWhatWasRefused) {
  TransportOptions options;
  options.congestion = "pigeon";
  EXPECT_THAT(tune_lane_socket(dialler_.get(), options).message(), testing::HasSubstr("TCP_CONGESTION=pigeon"));
}

}  // namespace
}  // namespace isthmus
