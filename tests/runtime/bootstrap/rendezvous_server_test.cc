#include "runtime/bootstrap/rendezvous_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/bootstrap/store_protocol.h"
#include "runtime/bootstrap/tcp_store.h"
#include "runtime/control/tcp_control.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }
TimePoint soon() { return in(std::chrono::seconds(20)); }

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return std::distance(begin(entries), end(entries));
}

// Waits until the server has noticed the end of what was closed.
bool descriptors_return_to(std::ptrdiff_t count) {
  for (int i = 0; i < 500 && open_descriptors() > count; ++i) std::this_thread::sleep_for(milliseconds(10));
  return open_descriptors() == count;
}

class RendezvousServerTest : public testing::Test {
 protected:
  std::unique_ptr<RendezvousServer> start(Duration greeting_limit = std::chrono::seconds(5)) {
    RendezvousOptions options;
    options.host = "127.0.0.1";
    options.greeting_limit = greeting_limit;
    auto server = RendezvousServer::start(&network_, options);
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    return std::move(server).value();
  }
  std::unique_ptr<TcpStore> connect(const RendezvousServer& server) {
    auto store = TcpStore::connect(&network_, server.address(), soon());
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    return std::move(store).value();
  }
  Fd raw(const RendezvousServer& server) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress address = *SocketAddress::parse(server.address());
    EXPECT_EQ(::connect(socket.get(), address.native(), address.native_length()), 0);
    return socket;
  }

  TcpControlNetwork network_;
};

TEST_F(RendezvousServerTest, EndsPromptlyWhileClientsWait) {
  auto server = start();
  const auto store = connect(*server);
  std::thread waiter([&] { EXPECT_EQ(store->get("never", soon()).status().code(), StatusCode::kUnavailable); });
  std::this_thread::sleep_for(milliseconds(50));
  const TimePoint begin = SteadyClock::instance().now();
  server.reset();
  waiter.join();
  EXPECT_LT(SteadyClock::instance().now() - begin, std::chrono::seconds(2));
}

TEST_F(RendezvousServerTest, ManyClientsMeet) {
  const auto server = start();
  constexpr int kClients = 32;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      const auto store = connect(*server);
      EXPECT_TRUE(store->set(fmt::format("rank {}", i), fmt::format("{}", i), soon()).ok());
      for (int k = 0; k < kClients; ++k)
        EXPECT_EQ(*store->get(fmt::format("rank {}", k), soon()), fmt::format("{}", k));
    });
  }
  for (std::thread& client : clients) client.join();
}

TEST_F(RendezvousServerTest, StrangersAndSilentOnesAreClosed) {
  const auto server = start(milliseconds(100));
  const auto store = connect(*server);
  const std::ptrdiff_t before = open_descriptors();
  const Fd silent = raw(*server), scanner = raw(*server);
  EXPECT_EQ(::send(scanner.get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
  // Both of ours stay open; the server's two ends go.
  EXPECT_TRUE(descriptors_return_to(before + 2));
  EXPECT_TRUE(store->set("key", "value", soon()).ok()) << "a client that greeted stays";
}

TEST_F(RendezvousServerTest, MX01_AnotherVersionIsRefusedWithBothVersions) {
  const auto server = start();
  auto stream = network_.connect(server->address(), soon());
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(send_message(**stream, StoreGreeting{kProtocolVersion + 1}.encode(), soon()).ok());
  const auto reply = receive_message(**stream, in(std::chrono::seconds(5)));
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  EXPECT_EQ(StoreGreeting::decode(*reply)->protocol_version, kProtocolVersion);
  EXPECT_EQ(receive_message(**stream, in(std::chrono::seconds(5))).status().code(), StatusCode::kUnavailable);
}

// EL-08: 200 connections in a second, half of which close at once, while a real group uses the server.
TEST_F(RendezvousServerTest, EL08_ABurstOfConnectionsHarmsNobody) {
  const auto server = start(milliseconds(300));
  const auto store = connect(*server);
  const std::ptrdiff_t before = open_descriptors();
  std::thread group([&] {
    const auto peer = connect(*server);
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(peer->set(fmt::format("there {}", i), "x", soon()).ok());
      EXPECT_TRUE(peer->get(fmt::format("here {}", i), soon()).ok());
    }
  });
  std::thread burst([&] {
    std::vector<Fd> kept;
    for (int i = 0; i < 200; ++i) {
      Fd socket = raw(*server);
      if (i % 2 == 0) kept.push_back(std::move(socket));
      std::this_thread::sleep_for(milliseconds(4));
    }
  });
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(store->get(fmt::format("there {}", i), soon()).ok());
    EXPECT_TRUE(store->set(fmt::format("here {}", i), "x", soon()).ok());
  }
  group.join();
  burst.join();
  EXPECT_TRUE(descriptors_return_to(before)) << open_descriptors() << " open, " << before << " before";
}

// LC-02: when the descriptors run out, the server recovers as soon as some are free again.
TEST_F(RendezvousServerTest, LC02_OutlivesTheLimitOfDescriptors) {
  const auto server = start();
  const auto store = connect(*server);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd probe(::dup(STDERR_FILENO));
  const rlimit tight{static_cast<rlim_t>(probe.get()) + 4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  {
    std::vector<Fd> held;
    for (int i = 0; i < 3; ++i) {  // their server ends find no descriptor
      Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!socket.valid()) break;
      const SocketAddress address = *SocketAddress::parse(server->address());
      EXPECT_EQ(::connect(socket.get(), address.native(), address.native_length()), 0);
      held.push_back(std::move(socket));
    }
    EXPECT_FALSE(held.empty());
    std::this_thread::sleep_for(milliseconds(150));
    EXPECT_TRUE(store->set("key", "value", soon()).ok()) << "those who are connected are served on";
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  EXPECT_TRUE(connect(*server)->contains("key", soon()).ok());
}

}  // namespace
}  // namespace isthmus
