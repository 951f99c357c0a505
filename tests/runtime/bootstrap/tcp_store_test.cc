#include "runtime/bootstrap/tcp_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runtime/base/socket_address.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/bootstrap/rendezvous_server.h"
#include "runtime/control/poll_fd.h"
#include "runtime/control/tcp_control.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }
TimePoint soon() { return in(std::chrono::seconds(20)); }

class TcpStoreTest : public testing::Test {
 protected:
  std::unique_ptr<RendezvousServer> start(std::uint16_t port = 0) {
    auto server = RendezvousServer::start(&network_, {"127.0.0.1", port, port});
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    return std::move(server).value();
  }
  // A port that was free a moment ago.
  std::uint16_t free_port() { return split_host_port((*network_.listen("127.0.0.1", "", 0, 0))->address())->port; }

  TcpControlNetwork network_;
};

TEST_F(TcpStoreTest, WaitsForAServerThatStartsLater) {
  const std::uint16_t port = free_port();
  std::unique_ptr<RendezvousServer> server;
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(200));
    server = start(port);
  });
  const auto store = TcpStore::connect(&network_, fmt::format("127.0.0.1:{}", port), soon());
  later.join();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_TRUE((*store)->set("key", "value", soon()).ok());
}

TEST_F(TcpStoreTest, TakesHostNames) {
  const auto server = start();
  const auto port = split_host_port(server->address())->port;
  const auto store = TcpStore::connect(&network_, fmt::format("localhost:{}", port), soon());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ((*store)->server_host(), "127.0.0.1");
}

TEST_F(TcpStoreTest, AServerThatNeverComesIsNamedWithTheReason) {
  const std::string address = fmt::format("127.0.0.1:{}", free_port());
  const TimePoint start_time = SteadyClock::instance().now();
  const Status status = TcpStore::connect(&network_, address, in(milliseconds(300))).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr(address));
  EXPECT_THAT(status.message(), HasSubstr("refused"));
  EXPECT_LT(SteadyClock::instance().now() - start_time, milliseconds(2000));
}

TEST_F(TcpStoreTest, AServerThatSaysNothingEndsAtTheDeadline) {
  const auto listener = network_.listen("127.0.0.1", "", 0, 0);  // accepts in its backlog, and never answers
  ASSERT_TRUE(listener.ok());
  const Status status = TcpStore::connect(&network_, (*listener)->address(), in(milliseconds(200))).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
}

TEST_F(TcpStoreTest, MX01_AServerOfAnotherVersionIsRefusedAtOnce) {
  auto listener = network_.listen("127.0.0.1", "", 0, 0);
  ASSERT_TRUE(listener.ok());
  std::thread server([&] {
    ASSERT_TRUE(*poll_fd((*listener)->fd(), PollFor::kReading, soon()));
    const auto stream = (*listener)->accept();
    ASSERT_TRUE(stream.ok() && *stream != nullptr);
    ASSERT_TRUE(receive_message(**stream, soon()).ok());
    ASSERT_TRUE(send_message(**stream, StoreGreeting{kProtocolVersion + 1}.encode(), soon()).ok());
    EXPECT_FALSE(receive_message(**stream, soon()).ok());
  });
  const TimePoint begin = SteadyClock::instance().now();
  const Status status = TcpStore::connect(&network_, (*listener)->address(), soon()).status();
  server.join();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("version {}", kProtocolVersion + 1)));
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("this process {}", kProtocolVersion)));
  EXPECT_LT(SteadyClock::instance().now() - begin, std::chrono::seconds(5));
}

TEST_F(TcpStoreTest, AServerThatGoesAwayIsUnavailable) {
  auto server = start();
  const auto store = TcpStore::connect(&network_, server->address(), soon());
  ASSERT_TRUE(store.ok());
  server.reset();
  const Status status = (*store)->set("key", "value", soon());
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("\"key\""));
}

TEST_F(TcpStoreTest, AForkedChildIsToldAndHarmsNothing) {
  const auto server = start();
  const auto store = TcpStore::connect(&network_, server->address(), soon());
  ASSERT_TRUE(store.ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit((*store)->set("key", "child", soon()).code() == StatusCode::kUnavailable ? 0 : 1);
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  EXPECT_TRUE((*store)->set("key", "parent", soon()).ok());
  EXPECT_EQ(*(*store)->get("key", soon()), "parent");
}

// LC-04: a 1 kHz timer signal whose handler does not restart system calls.
TEST_F(TcpStoreTest, LC04_SignalsInterruptNothing) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval every_ms{{0, 1000}, {0, 1000}}, never{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &every_ms, nullptr), 0);
  {
    const auto server = start();
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&, i] {
        for (int round = 0; round < 25; ++round) {
          const auto store = TcpStore::connect(&network_, server->address(), soon());
          ASSERT_TRUE(store.ok()) << store.status().to_string();
          ASSERT_TRUE((*store)->set(fmt::format("{}/{}", round, i), "x", soon()).ok());
          for (int k = 0; k < 4; ++k) ASSERT_TRUE((*store)->get(fmt::format("{}/{}", round, k), soon()).ok());
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace isthmus
