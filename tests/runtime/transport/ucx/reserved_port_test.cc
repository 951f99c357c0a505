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

// The side of a connection that closes first keeps it in TIME_WAIT: here that of the port.
TEST(ReservedPort, SaysWhenTimeWaitAloneKeepsTheOnlyPort) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), kHost.native(), kHost.native_length()), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const SocketAddress address = *SocketAddress::local_of(listener.get());
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), address.native(), address.native_length()), 0);
  Fd accepted(::accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(accepted.valid());
  listener.reset();
  accepted.reset();
  const Status status = ReservedPort::find(kHost, address.port(), address.port(), Duration(1)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), testing::HasSubstr(fmt::format("keep {} in TIME_WAIT", address.port())));
}

TEST(ReservedPort, AnAddressOfAnotherHostIsAnError) {
  const Status status = ReservedPort::find(*SocketAddress::from_host("192.0.2.1", 0), 39'300, 39'310).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), testing::HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace isthmus
