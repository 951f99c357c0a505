#include "runtime/control/tcp_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/base/socket_address.h"
#include "runtime/control/poll_fd.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

std::uint16_t port_of(const ControlListener& listener) { return split_host_port(listener.address())->port; }

TEST(TcpControl, ListensOnlyWhereItIsTold) {
  TcpControlNetwork network;
  const auto listener = network.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(listener.ok()) << listener.status().to_string();
  const auto bound = SocketAddress::local_of((*listener)->fd());
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->host(), "127.0.0.1");
  EXPECT_EQ(bound->text(), (*listener)->address());
}

TEST(TcpControl, TakesTheFirstFreePortOfTheRange) {
  TcpControlNetwork network;
  const auto any = network.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(any.ok());
  const std::uint16_t taken = port_of(**any);
  ASSERT_LT(taken, 65000);
  const auto next = network.listen("127.0.0.1", "", taken, static_cast<std::uint16_t>(taken + 100));
  ASSERT_TRUE(next.ok()) << next.status().to_string();
  EXPECT_GT(port_of(**next), taken);
  EXPECT_LE(port_of(**next), taken + 100);
}

TEST(TcpControl, AFullRangeIsNamed) {
  TcpControlNetwork network;
  const auto any = network.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(any.ok());
  const std::uint16_t taken = port_of(**any);
  const Status status = network.listen("127.0.0.1", "", taken, taken).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("{}-{}", taken, taken)));
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1"));
}

TEST(TcpControl, APortIsFreeAgainAtOnceAfterUse) {
  TcpControlNetwork network;
  auto first = network.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(first.ok());
  const std::uint16_t port = port_of(**first);
  {
    const auto client = network.connect((*first)->address(), in(milliseconds(5000)));
    ASSERT_TRUE(client.ok());
    const auto server = (*first)->accept();
    ASSERT_TRUE(server.ok());
    std::move(first).value().reset();
  }
  EXPECT_TRUE(network.listen("127.0.0.1", "", port, port).ok()) << "connections in TIME_WAIT do not hold it";
}

TEST(TcpControl, AdvertisesWhatItIsTold) {
  TcpControlNetwork network;
  const auto listener = network.listen("127.0.0.1", "203.0.113.9", 0, 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_THAT((*listener)->address(), testing::StartsWith("203.0.113.9:"));
}

TEST(TcpControl, AForeignAddressIsNamed) {
  TcpControlNetwork network;
  const Status status = network.listen("203.0.113.9", "", 0, 0).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("203.0.113.9"));
  EXPECT_EQ(network.listen("myhost", "", 0, 0).status().code(), StatusCode::kInvalidArgument);
}

// The burst of EL-08, before anyone accepts.
TEST(TcpControl, EL08_TwoHundredDialsAtOnceAllStand) {
  TcpControlNetwork network;
  const auto listener = network.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(listener.ok());
  std::vector<std::unique_ptr<ControlStream>> clients;
  for (int i = 0; i < 200; ++i) {
    auto client = network.dial((*listener)->address());
    ASSERT_TRUE(client.ok()) << client.status().to_string();
    clients.push_back(std::move(client).value());
  }
  for (auto& client : clients) ASSERT_TRUE(send_message(*client, "hello", in(milliseconds(5000))).ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(*poll_fd((*listener)->fd(), PollFor::kReading, in(milliseconds(5000))));
    const auto server = (*listener)->accept();
    ASSERT_TRUE(server.ok() && *server != nullptr);
    EXPECT_EQ(*receive_message(**server, in(milliseconds(5000))), "hello");
  }
}

}  // namespace
}  // namespace isthmus
