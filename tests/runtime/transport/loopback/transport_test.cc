#include "runtime/transport/loopback/transport.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace isthmus {
namespace {

struct Place {
  std::string address;
  std::atomic<bool> listens{false};
};

// Each thread has a transport, dials all the others and echoes what it gets; some die in between.
void live(const std::shared_ptr<LoopbackFabric>& fabric, std::vector<Place>& places, int self,
          std::atomic<int>& messages) {
  // Declared first, so that they outlive the transport: peers write into them until it is gone.
  std::vector<std::unique_ptr<std::array<std::byte, 64>>> buffers;
  const std::vector<std::byte> hello(64, static_cast<std::byte>(self));
  auto transport = make_loopback_transport(fabric).value();
  places[self].address = *transport->listen({});
  places[self].listens.store(true, std::memory_order_release);
  for (const Place& peer : places) {
    while (!peer.listens.load(std::memory_order_acquire)) std::this_thread::yield();
    EXPECT_TRUE(transport->connect(peer.address, "hi").ok());
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
  std::vector<Place> places(4);
  std::atomic<int> messages{0};
  std::vector<std::thread> threads;
  for (int self = 0; self < 4; ++self) {
    threads.emplace_back([&, self] { live(fabric, places, self, messages); });
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
