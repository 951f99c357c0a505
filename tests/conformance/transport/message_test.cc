// Conformance of every transport: what happens to messages on lanes that stay up.
#include <algorithm>
#include <set>

#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {
namespace {

TEST_P(TransportConformance, MessagesOfEverySizeArriveWhole) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "sizes");
  std::vector<std::byte> buffer(kMaxMessageBytes);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{63}, std::size_t{128},
                                  std::size_t{129}, std::size_t{8999}, std::size_t{9001}, std::size_t{65536},
                                  std::size_t{65537}, std::size_t{1} << 20, kMaxMessageBytes - 1, kMaxMessageBytes}) {
    const auto message = make_message(bytes, bytes);
    std::fill(buffer.begin(), buffer.end(), std::byte{0});
    a.forget_events(), b.forget_events();
    ASSERT_EQ(b->receive(lanes.accepted, buffer, bytes), PostResult::kAccepted);
    ASSERT_EQ(a->send(lanes.dialled, message, bytes + 1), PostResult::kAccepted);
    ASSERT_TRUE(pump_until({&a, &b}, [&] {
      return a.find(TransportEventKind::kSent, lanes.dialled) && b.find(TransportEventKind::kReceived, lanes.accepted);
    })) << bytes;
    const TransportEvent received = *b.find(TransportEventKind::kReceived, lanes.accepted);
    ASSERT_TRUE(received.status.ok()) << received.status.to_string();
    EXPECT_EQ(received.token, bytes);
    ASSERT_EQ(received.bytes, bytes);
    EXPECT_EQ(a.find(TransportEventKind::kSent, lanes.dialled)->token, bytes + 1);
    EXPECT_TRUE(std::equal(message.begin(), message.end(), buffer.begin())) << bytes;
  }
}

TEST_P(TransportConformance, SendsMayComeBeforeTheirReceives) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "early");
  const auto first = make_message(100, 1), second = make_message(50, 2);
  ASSERT_EQ(a->send(lanes.dialled, first, 1), PostResult::kAccepted);
  ASSERT_EQ(a->send(lanes.dialled, second, 2), PostResult::kAccepted);
  pump_for({&a, &b}, std::chrono::milliseconds(20));
  EXPECT_EQ(b.count(TransportEventKind::kReceived), 0);
  std::vector<std::byte> one(100), two(100);
  ASSERT_EQ(b->receive(lanes.accepted, one, 11), PostResult::kAccepted);
  ASSERT_EQ(b->receive(lanes.accepted, two, 12), PostResult::kAccepted);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return b.count(TransportEventKind::kReceived) == 2; }));
  EXPECT_EQ(one, first);
  two.resize(50);
  EXPECT_EQ(two, second);
}

// A stream of numbered messages in one direction of one lane.
struct Stream {
  Station* from;
  Station* to;
  LaneId from_lane, to_lane;
  int total;
  std::vector<std::vector<std::byte>> messages{}, buffers{};
  int sent = 0, posted = 0;

  void prepare(std::uint64_t seed) {
    for (int i = 0; i < total; ++i) {
      messages.push_back(make_message(1 + (seed + static_cast<std::uint64_t>(i) * 7919) % 20000, seed + i));
      buffers.emplace_back(20000);
    }
  }
  // Receives are posted some ahead only, so that both waiting sends and waiting receives occur.
  void step() {
    while (posted < total && posted < to->count(TransportEventKind::kReceived, to_lane) + 8) {
      if ((*to)->receive(to_lane, buffers[posted], posted) != PostResult::kAccepted) break;
      ++posted;
    }
    while (sent < total && (*from)->send(from_lane, messages[sent], sent) == PostResult::kAccepted) ++sent;
  }
  bool done() const {
    return to->count(TransportEventKind::kReceived, to_lane) == total &&
           from->count(TransportEventKind::kSent, from_lane) == total;
  }
  void check() const {
    std::uint64_t next_sent = 0, next_received = 0;
    for (const TransportEvent& event : from->events()) {
      if (event.lane != from_lane || event.kind != TransportEventKind::kSent) continue;
      EXPECT_EQ(event.token, next_sent++);
    }
    for (const TransportEvent& event : to->events()) {
      if (event.lane != to_lane || event.kind != TransportEventKind::kReceived) continue;
      ASSERT_EQ(event.token, next_received);
      const auto& message = messages[next_received];
      ASSERT_EQ(event.bytes, message.size());
      ASSERT_TRUE(std::equal(message.begin(), message.end(), buffers[next_received].begin())) << next_received;
      ++next_received;
    }
  }
};

TEST_P(TransportConformance, ALaneIsFifoInBothDirectionsAtOnce) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "fifo");
  Stream there{&a, &b, lanes.dialled, lanes.accepted, 500}, back{&b, &a, lanes.accepted, lanes.dialled, 500};
  there.prepare(1), back.prepare(2);
  ASSERT_TRUE(pump_until({&a, &b}, [&] {
    there.step(), back.step();
    return there.done() && back.done();
  }));
  there.check(), back.check();
}

TEST_P(TransportConformance, ManyLanesDoNotMix) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  std::vector<Stream> streams;
  for (int i = 0; i < 16; ++i) {
    const LanePair lanes = open_lane(a, b, address, fmt::format("lane {}", i));
    streams.push_back({&a, &b, lanes.dialled, lanes.accepted, 20});
    streams.push_back({&b, &a, lanes.accepted, lanes.dialled, 20});
  }
  for (std::size_t i = 0; i < streams.size(); ++i) streams[i].prepare(100 * i);
  ASSERT_TRUE(pump_until({&a, &b}, [&] {
    for (Stream& stream : streams) stream.step();
    return std::all_of(streams.begin(), streams.end(), [](const Stream& stream) { return stream.done(); });
  }));
  for (const Stream& stream : streams) stream.check();
}

TEST_P(TransportConformance, WithoutReceivesASenderStops) {
  ASSERT_TRUE(new_station()->capabilities().has_backpressure);
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "pressure");
  const auto message = make_message(65536, 3);
  std::uint64_t accepted = 0;
  int quiet = 0;
  while (quiet < 100) {  // 100 ms in which nothing more is taken
    quiet = a->send(lanes.dialled, message, accepted) == PostResult::kAccepted ? 0 : quiet + 1;
    if (quiet == 0) ++accepted;
    if (quiet != 0) pump_for({&a, &b}, std::chrono::milliseconds(1));
    ASSERT_LT(accepted, 2000u) << "125 MiB were taken without a receive";
  }
  EXPECT_LT(a.count(TransportEventKind::kSent), 256) << "16 MiB left their buffers without a receive";
  EXPECT_EQ(b.count(TransportEventKind::kReceived), 0);

  std::vector<std::byte> buffer(65536);
  for (std::uint64_t i = 0; i < accepted; ++i) {
    ASSERT_EQ(b->receive(lanes.accepted, buffer, i), PostResult::kAccepted);
    ASSERT_TRUE(
        pump_until({&a, &b}, [&] { return b.count(TransportEventKind::kReceived) == static_cast<int>(i + 1); }));
    ASSERT_EQ(buffer, message);
  }
  EXPECT_TRUE(pump_until({&a, &b}, [&] { return a.count(TransportEventKind::kSent) == static_cast<int>(accepted); }));
}

TEST_P(TransportConformance, AFullLaneHasRoomAfterItsNextEvent) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "full");
  std::vector<std::byte> buffer(16);
  std::uint64_t posted = 0;
  while (b->receive(lanes.accepted, buffer, posted) == PostResult::kAccepted) {
    ASSERT_LT(++posted, 100'000u) << "receives are taken without bound";
  }
  ASSERT_EQ(b->receive(lanes.accepted, buffer, posted), PostResult::kFull);
  ASSERT_GE(posted, 64u);
  const auto message = make_message(16, 4);
  ASSERT_EQ(a->send(lanes.dialled, message, 0), PostResult::kAccepted);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return b.count(TransportEventKind::kReceived) == 1; }));
  EXPECT_EQ(b->receive(lanes.accepted, buffer, posted), PostResult::kAccepted);
}

TEST_P(TransportConformance, NothingIsTakenBeforeALaneIsUp) {
  Station a = new_station(), b = new_station();
  const auto lane = a->connect(listen_at(b), "");
  ASSERT_TRUE(lane.ok());
  std::vector<std::byte> buffer(16);
  EXPECT_EQ(a->send(*lane, buffer, 1), PostResult::kFull);
  EXPECT_EQ(a->receive(*lane, buffer, 2), PostResult::kFull);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return a.find(TransportEventKind::kLaneUp, *lane); }));
  EXPECT_EQ(a->send(*lane, buffer, 1), PostResult::kAccepted);
  EXPECT_EQ(a->receive(*lane, buffer, 2), PostResult::kAccepted);
}

TEST_P(TransportConformance, ALaneThatNobodyOpenedIsDown) {
  Station a = new_station();
  std::vector<std::byte> buffer(16);
  EXPECT_EQ(a->send(12345, buffer, 1), PostResult::kDown);
  EXPECT_EQ(a->receive(12345, buffer, 1), PostResult::kDown);
  a->close(12345);
  EXPECT_EQ(a.pump(), 0u);
}

TEST_P(TransportConformance, EventsComeInAnyPortions) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "portions");
  std::vector<std::vector<std::byte>> buffers(40, std::vector<std::byte>(8));
  const auto message = make_message(8, 1);
  for (std::uint64_t i = 0; i < buffers.size(); ++i) {
    ASSERT_EQ(b->receive(lanes.accepted, buffers[i], i), PostResult::kAccepted);
    ASSERT_EQ(a->send(lanes.dialled, message, i), PostResult::kAccepted);
    ASSERT_TRUE(pump_until({&a}, [&] { return a.count(TransportEventKind::kSent) == static_cast<int>(i + 1); }));
  }
  std::uint64_t next = 0;
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(10);
  while (next < buffers.size() && SteadyClock::instance().now() < deadline) {
    TransportEvent event;
    a.pump();
    if (b->progress({&event, 1}) == 0) continue;
    EXPECT_EQ(event.token, next++);
  }
  EXPECT_EQ(next, buffers.size());
}

}  // namespace
}  // namespace isthmus::conformance
