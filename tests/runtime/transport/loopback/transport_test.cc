#include "runtime/transport/loopback/transport.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

namespace isthmus {
namespace {

// Each thread has a transport, dials all the others and echoes what it gets; some die in between.
void live(const std::shared_ptr<LoopbackFabric>& fabric, std::vector<std::atomic<const std::string*>>& addresses,
          int self, std::atomic<int>& messages) {
  auto transport = make_loopback_transport(fabric).value();
  const std::string address = *transport->listen({});
  addresses[self].store(&address, std::memory_order_release);
  std::vector<std::unique_ptr<std::array<std::byte, 64>>> buffers;
  std::vector<std::byte> hello(64, static_cast<std::byte>(self));
  for (std::size_t peer = 0; peer < addresses.size(); ++peer) {
    const std::string* target;
    while ((target = addresses[peer].load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
    EXPECT_TRUE(transport->connect(*target, "hi").ok());
  }
  int left = 500 + 100 * self;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (left > 0 && std::chrono::steady_clock::now() < end) {
    TransportEvent event;
    if (transport->progress({&event, 1}) == 0) {
      if (!transport->arm()) continue;
      pollfd entry{transport->wait_fd(), POLLIN, 0};
      if (::poll(&entry, 1, 2'000) == 0) break;  // all peers are gone
      continue;
    }
    if (event.kind == TransportEventKind::kLaneDown || event.kind == TransportEventKind::kSent || !event.status.ok()) {
      continue;
    }
    if (event.kind == TransportEventKind::kReceived) --left, messages.fetch_add(1, std::memory_order_relaxed);
    buffers.push_back(std::make_unique<std::array<std::byte, 64>>());
    transport->receive(event.lane, *buffers.back(), 0);
    transport->send(event.lane, hello, 0);
  }
}

TEST(LoopbackTransport, ThreadsComeAndGo) {
  const auto fabric = std::make_shared<LoopbackFabric>();
  std::vector<std::atomic<const std::string*>> addresses(4);
  std::atomic<int> messages{0};
  std::vector<std::string> kept;
  std::vector<std::thread> threads;
  for (int self = 0; self < 4; ++self) {
    threads.emplace_back([&, self] { live(fabric, addresses, self, messages); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(messages.load(), 500);
}

TEST(LoopbackTransport, FabricsAreApart) {
  auto listener = make_loopback_transport(std::make_shared<LoopbackFabric>()).value();
  auto dialler = make_loopback_transport(std::make_shared<LoopbackFabric>()).value();
  EXPECT_TRUE(dialler->connect(*listener->listen({}), "").ok());
  TransportEvent event;
  ASSERT_EQ(dialler->progress({&event, 1}), 1u);
  EXPECT_EQ(event.kind, TransportEventKind::kLaneDown);
}

}  // namespace
}  // namespace isthmus
