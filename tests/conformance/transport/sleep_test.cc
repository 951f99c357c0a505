// Conformance of every transport: a thread that sleeps between arm() and its descriptor misses nothing.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {
namespace {

constexpr int kRounds = 10'000;
constexpr Duration kLostWakeUp = std::chrono::seconds(5);

// False when the time was up.
bool sleep_on(int fd, Duration time) {
  pollfd entry{fd, POLLIN, 0};
  const timespec timeout{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  return ::ppoll(&entry, 1, &timeout, nullptr) != 0;
}

// Sleeps until there is an event; false after a time that only a lost wake-up explains.
bool next_event(Transport& transport, TransportEvent* event) {
  for (;;) {
    if (transport.progress({event, 1}) == 1) return true;
    if (!transport.arm()) continue;
    const TimePoint due = transport.next_due();
    Duration wait = kLostWakeUp;
    if (due != kNever) wait = std::clamp(due - SteadyClock::instance().now(), Duration(0), wait);
    if (!sleep_on(transport.wait_fd(), wait) && due == kNever) return false;
  }
}

// Answers each message with one of its own; the first to speak has `serve`. `rounds` counts ours, `other` the peer's.
void play(Transport& transport, LaneId lane, bool serve, std::atomic<int>* rounds, const std::atomic<int>* other) {
  std::uint64_t word = 0, answer = 0;
  const MutableBytes buffer = std::as_writable_bytes(std::span(&answer, 1));
  const ConstBytes message = std::as_bytes(std::span(&word, 1));
  ASSERT_EQ(transport.receive(lane, buffer, 1), PostResult::kAccepted);
  bool sent = !serve;
  if (serve) {
    ASSERT_EQ(transport.send(lane, message, 2), PostResult::kAccepted);
  }
  for (int round = 0; round < kRounds;) {
    TransportEvent event;
    ASSERT_TRUE(next_event(transport, &event)) << "a wake-up was lost in round " << round;
    ASSERT_TRUE(event.status.ok()) << event.status.to_string();
    if (event.kind == TransportEventKind::kSent) sent = true;
    if (event.kind != TransportEventKind::kReceived) continue;
    ASSERT_EQ(answer, static_cast<std::uint64_t>(round));
    ++round;
    rounds->store(round, std::memory_order_relaxed);
    ASSERT_EQ(transport.receive(lane, buffer, 1), PostResult::kAccepted);
    if (serve && round == kRounds) return;
    while (!sent) {
      ASSERT_TRUE(next_event(transport, &event));
      sent = event.kind == TransportEventKind::kSent;
    }
    word = serve ? round : round - 1;
    ASSERT_EQ(transport.send(lane, message, 2), PostResult::kAccepted);
    sent = false;
  }
  // The last answer may still be on its way: it needs this transport's thread until the other side has it.
  const TimePoint deadline = SteadyClock::instance().now() + kLostWakeUp;
  while (other->load(std::memory_order_relaxed) < kRounds && SteadyClock::instance().now() < deadline) {
    TransportEvent event;
    transport.progress({&event, 1});
  }
}

TEST_P(TransportConformance, NoWakeUpIsLost) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "ping");
  std::atomic<int> rounds_a{0}, rounds_b{0};
  std::thread other([&] { play(*b, lanes.accepted, false, &rounds_b, &rounds_a); });
  play(*a, lanes.dialled, true, &rounds_a, &rounds_b);
  other.join();
  EXPECT_EQ(rounds_a.load(), kRounds);
  EXPECT_EQ(rounds_b.load(), kRounds);
}

TEST_P(TransportConformance, AnIdleTransportSleeps) {
  Station a = new_station(), b = new_station();
  open_lane(a, b, listen_at(b), "idle");
  pump_for({&a, &b}, std::chrono::milliseconds(20));
  int wake_ups = 0;
  const TimePoint end = SteadyClock::instance().now() + std::chrono::milliseconds(200);
  while (SteadyClock::instance().now() < end) {
    ASSERT_EQ(a.pump(), 0u);
    ++wake_ups;
    if (!a->arm()) continue;
    sleep_on(a->wait_fd(), std::chrono::milliseconds(100));
  }
  EXPECT_LT(wake_ups, 20);
}

TEST_P(TransportConformance, ASleeperLearnsOfLanesAndDeaths) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  std::thread other([&] {
    TransportEvent event;
    ASSERT_TRUE(next_event(*b, &event));
    EXPECT_EQ(event.kind, TransportEventKind::kLaneAccepted);
    ASSERT_TRUE(next_event(*b, &event));
    EXPECT_EQ(event.kind, TransportEventKind::kLaneDown);
  });
  const auto lane = a->connect(address, "wake");
  ASSERT_TRUE(lane.ok());
  EXPECT_TRUE(pump_until({&a}, [&] { return a.find(TransportEventKind::kLaneUp, *lane); }));
  pump_for({&a}, std::chrono::milliseconds(50));
  a.destroy();
  other.join();
}

}  // namespace
}  // namespace isthmus::conformance
