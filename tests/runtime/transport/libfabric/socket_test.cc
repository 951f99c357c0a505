#include "runtime/transport/libfabric/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

FabricAddress name_of(int fd) {
  FabricAddress address;
  socklen_t length = FabricAddress::capacity();
  EXPECT_EQ(::getsockname(fd, address.data(), &length), 0);
  address.set_length(length);
  return address;
}

TEST(SocketSearch, FindsTheEndsOfAConnection) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM, 0)), dialler(::socket(AF_INET, SOCK_STREAM, 0));
  const FabricAddress any = *FabricAddress::from_host("127.0.0.1", 0);
  ASSERT_EQ(::bind(listener.get(), any.data(), any.length()), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const FabricAddress address = name_of(listener.get());
  ASSERT_EQ(::connect(dialler.get(), address.data(), address.length()), 0);
  const Fd accepted(::accept(listener.get(), nullptr, nullptr));
  const FabricAddress local = name_of(dialler.get());

  EXPECT_EQ(find_listening_socket(address), listener.get());
  EXPECT_EQ(find_lane_socket(local, address), dialler.get());
  EXPECT_EQ(find_lane_socket(address, local), accepted.get());
  EXPECT_EQ(find_lane_socket(address, address), -1);
  EXPECT_EQ(find_listening_socket(local), -1);

  EXPECT_FALSE(congestion_of(dialler.get()).empty());
  EXPECT_TRUE(congestion_of(-1).empty());
  EXPECT_EQ(::fcntl(dialler.get(), F_GETFD) & FD_CLOEXEC, 0);
  set_close_on_exec(dialler.get());
  EXPECT_NE(::fcntl(dialler.get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace isthmus
