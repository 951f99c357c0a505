// Conformance of every transport: how lanes end. Each accepted post has exactly one event, each lane one kLaneDown.
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {
namespace {

using ::testing::HasSubstr;

// Posts receives and more sends than the lane can swallow; returns how many sends were taken.
std::uint64_t load_lane(Station& station, LaneId lane, std::vector<std::byte>& buffer, ConstBytes message) {
  for (std::uint64_t token = 0; token < 5; ++token) {
    EXPECT_EQ(station->receive(lane, buffer, token), PostResult::kAccepted);
  }
  std::uint64_t sends = 0;
  while (station->send(lane, message, 1000 + sends) == PostResult::kAccepted) ++sends;
  return sends;
}

// Every token came back once, and the end of the lane came last.
void expect_all_returned(const Station& station, LaneId lane, std::uint64_t sends, StatusCode code) {
  std::map<std::uint64_t, int> receives, sent;
  int downs = 0;
  for (const TransportEvent& event : station.events()) {
    if (event.lane != lane) continue;
    EXPECT_EQ(downs, 0) << "an event after kLaneDown";
    if (event.kind == TransportEventKind::kReceived) {
      ++receives[event.token];
      EXPECT_EQ(event.status.code(), code) << event.status.to_string();
    }
    if (event.kind == TransportEventKind::kSent) {
      ++sent[event.token];
      EXPECT_TRUE(event.status.ok() || event.status.code() == code) << event.status.to_string();
    }
    if (event.kind == TransportEventKind::kLaneDown) ++downs;
  }
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(receives.size(), 5u);
  EXPECT_EQ(sent.size(), sends);
  for (const auto& [token, times] : receives) EXPECT_EQ(times, 1) << "receive " << token;
  for (const auto& [token, times] : sent) EXPECT_EQ(times, 1) << "send " << token;
}

TEST_P(TransportConformance, ClosingReturnsWhatWasPosted) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "close");
  std::vector<std::byte> buffer(100);
  const auto message = make_message(1 << 20, 5);
  const std::uint64_t sends = load_lane(a, lanes.dialled, buffer, message);
  a->close(lanes.dialled);
  EXPECT_EQ(a->send(lanes.dialled, message, 1), PostResult::kDown);
  EXPECT_EQ(a->receive(lanes.dialled, buffer, 1), PostResult::kDown);
  a->close(lanes.dialled);
  ASSERT_TRUE(pump_until({&a}, [&] { return a.find(TransportEventKind::kLaneDown, lanes.dialled); }));
  pump_for({&a, &b}, std::chrono::milliseconds(10));
  expect_all_returned(a, lanes.dialled, sends, StatusCode::kAborted);
  EXPECT_TRUE(a.find(TransportEventKind::kLaneDown, lanes.dialled)->status.ok());
}

TEST_P(TransportConformance, ThePeerLearnsOfAClose) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "peer closes");
  std::vector<std::byte> buffer(100);
  const auto message = make_message(1 << 20, 6);
  const std::uint64_t sends = load_lane(b, lanes.accepted, buffer, message);
  a->close(lanes.dialled);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return b.find(TransportEventKind::kLaneDown, lanes.accepted); }));
  expect_all_returned(b, lanes.accepted, sends, StatusCode::kUnavailable);
  EXPECT_EQ(b.find(TransportEventKind::kLaneDown, lanes.accepted)->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(b->send(lanes.accepted, message, 1), PostResult::kDown);
}

TEST_P(TransportConformance, ThePeersDeathIsReportedOnEveryLane) {
  Station a = new_station(), b = new_station();
  ASSERT_TRUE(a->capabilities().reports_peer_death);
  const std::string address = listen_at(b);
  std::vector<LanePair> lanes;
  for (int i = 0; i < 4; ++i) lanes.push_back(open_lane(a, b, address, fmt::format("death {}", i)));
  std::vector<std::byte> buffer(100);
  const auto message = make_message(1 << 20, 7);
  const std::uint64_t sends = load_lane(a, lanes[0].dialled, buffer, message);
  b.destroy();
  ASSERT_TRUE(pump_until({&a}, [&] { return a.count(TransportEventKind::kLaneDown) == 4; }));
  expect_all_returned(a, lanes[0].dialled, sends, StatusCode::kUnavailable);
  for (const LanePair& lane : lanes) {
    const TransportEvent* down = a.find(TransportEventKind::kLaneDown, lane.dialled);
    ASSERT_NE(down, nullptr);
    EXPECT_EQ(down->status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(down->status.message(), HasSubstr(place_of(address)));
    EXPECT_EQ(a->send(lane.dialled, message, 1), PostResult::kDown);
  }
}

TEST_P(TransportConformance, OneLaneEndsAlone) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  const LanePair gone = open_lane(a, b, address, "gone"), stays = open_lane(a, b, address, "stays");
  a->close(gone.dialled);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return b.find(TransportEventKind::kLaneDown, gone.accepted); }));
  std::vector<std::byte> buffer(100);
  const auto message = make_message(100, 8);
  ASSERT_EQ(b->receive(stays.accepted, buffer, 1), PostResult::kAccepted);
  ASSERT_EQ(a->send(stays.dialled, message, 2), PostResult::kAccepted);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return b.find(TransportEventKind::kReceived, stays.accepted); }));
  EXPECT_EQ(buffer, message);
}

TEST_P(TransportConformance, NobodyListensThere) {
  Station a = new_station();
  std::string address;
  {
    Station gone = new_station();
    address = listen_at(gone);
  }
  const auto lane = a->connect(address, "hello?");
  ASSERT_TRUE(lane.ok()) << lane.status().to_string();
  ASSERT_TRUE(pump_until({&a}, [&] { return a.find(TransportEventKind::kLaneDown, *lane); }));
  const Status status = a.find(TransportEventKind::kLaneDown, *lane)->status;
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr(place_of(address)));
  EXPECT_EQ(a.count(TransportEventKind::kLaneUp), 0);
}

TEST_P(TransportConformance, ALaneCanBeClosedBeforeItIsUp) {
  Station a = new_station(), b = new_station();
  const auto lane = a->connect(listen_at(b), "never mind");
  ASSERT_TRUE(lane.ok());
  a->close(*lane);
  ASSERT_TRUE(pump_until({&a, &b}, [&] { return a.find(TransportEventKind::kLaneDown, *lane); }));
  EXPECT_TRUE(a.find(TransportEventKind::kLaneDown, *lane)->status.ok());
  pump_for({&a, &b}, std::chrono::milliseconds(20));
  EXPECT_EQ(a.count(TransportEventKind::kLaneDown), 1);
  EXPECT_EQ(b.count(TransportEventKind::kLaneAccepted), b.count(TransportEventKind::kLaneDown));
}

TEST_P(TransportConformance, AMessageLongerThanItsBufferIsCorruption) {
  Station a = new_station(), b = new_station();
  const LanePair lanes = open_lane(a, b, listen_at(b), "too long");
  std::vector<std::byte> small(100), guard(100);
  const auto message = make_message(101, 9);
  ASSERT_EQ(b->receive(lanes.accepted, small, 1), PostResult::kAccepted);
  ASSERT_EQ(b->receive(lanes.accepted, guard, 2), PostResult::kAccepted);
  ASSERT_EQ(a->send(lanes.dialled, message, 3), PostResult::kAccepted);
  ASSERT_TRUE(pump_until({&a, &b}, [&] {
    return b.find(TransportEventKind::kLaneDown, lanes.accepted) &&
           a.find(TransportEventKind::kLaneDown, lanes.dialled);
  }));
  EXPECT_EQ(b.find(TransportEventKind::kLaneDown, lanes.accepted)->status.code(), StatusCode::kCorruption);
  EXPECT_EQ(a.find(TransportEventKind::kLaneDown, lanes.dialled)->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(b.count(TransportEventKind::kReceived, lanes.accepted), 2);
  for (const TransportEvent& event : b.events()) {
    EXPECT_TRUE(event.kind != TransportEventKind::kReceived || !event.status.ok());
  }
  EXPECT_EQ(guard, std::vector<std::byte>(100));
}

// Traffic and closes at random, from a fixed seed: the rule of one event per post holds at both ends.
TEST_P(TransportConformance, EveryPostHasOneEvent) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  std::mt19937 random(11);
  std::vector<std::byte> sink(kMaxMessageBytes);
  std::vector<std::vector<std::byte>> sinks(64, std::vector<std::byte>(70000));
  const auto message = make_message(70000, 10);
  std::map<std::pair<LaneId, std::uint64_t>, int> open[2];
  for (int round = 0; round < 20; ++round) {
    const LanePair lanes = open_lane(a, b, address, fmt::format("round {}", round));
    for (std::uint64_t i = 0; i < 40; ++i) {
      const bool from_a = random() % 2 == 0, is_send = random() % 2 == 0;
      Station& station = from_a ? a : b;
      const LaneId lane = from_a ? lanes.dialled : lanes.accepted;
      const std::size_t bytes = 1 + random() % message.size();
      const PostResult result =
          is_send ? station->send(lane, ConstBytes(message).first(bytes), i) : station->receive(lane, sinks[i], i);
      if (result == PostResult::kAccepted) ++open[from_a ? 0 : 1][{lane, i}];
      if (random() % 4 == 0) a.pump(), b.pump();
    }
    const bool a_closes = round % 2 == 0;
    (a_closes ? a : b)->close(a_closes ? lanes.dialled : lanes.accepted);
    Station& other = a_closes ? b : a;
    const LaneId left = a_closes ? lanes.accepted : lanes.dialled;
    std::uint64_t token = 1000;
    ASSERT_TRUE(pump_until({&a, &b}, [&] {
      // The end of the connection lies behind what was not received.
      if (other->receive(left, sink, token) == PostResult::kAccepted) ++open[a_closes ? 1 : 0][{left, token++}];
      return a.find(TransportEventKind::kLaneDown, lanes.dialled) &&
             b.find(TransportEventKind::kLaneDown, lanes.accepted);
    }));
  }
  for (Station* station : {&a, &b}) {
    for (const TransportEvent& event : station->events()) {
      if (event.kind != TransportEventKind::kSent && event.kind != TransportEventKind::kReceived) continue;
      --open[station == &a ? 0 : 1][{event.lane, event.token}];
    }
  }
  for (const auto& side : open) {
    for (const auto& [key, left] : side) EXPECT_EQ(left, 0) << "lane " << key.first << " token " << key.second;
  }
}

}  // namespace
}  // namespace isthmus::conformance
