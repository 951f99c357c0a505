#include "runtime/transport/ucx/reserved_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

const SocketAddress kHost = *SocketAddress::from_host("127.0.0.1", 0);

TEST(ReservedPort, LeavesOutThoseThatAreTakenOrReserved) {
  const auto first = ReservedPort::find(kHost, 39'300, 39'310);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  const auto second = ReservedPort::find(kHost, 39'300, 39'310);
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_LT(second->port(), first->port());
}

TEST(ReservedPort, IsFreeAgainWhenItIsLetGo) {
  const auto port = ReservedPort::find(kHost, 39'300, 39'310)->port();
  EXPECT_EQ(ReservedPort::find(kHost, 39'300, 39'310)->port(), port);
}

TEST(ReservedPort, NamesTheRangeThatIsUsedUp) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), kHost.native(), kHost.native_length()), 0);
  const std::uint16_t taken = SocketAddress::local_of(socket.get())->port();
  const Status status = ReservedPort::find(kHost, taken, taken).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), testing::HasSubstr(fmt::format("{0}-{0} of 127.0.0.1", taken)));
}

TEST(ReservedPort, AnAddressOfAnotherHostIsAnError) {
  const Status status = ReservedPort::find(*SocketAddress::from_host("192.0.2.1", 0), 39'300, 39'310).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), testing::HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace isthmus
