// A shaped transport on a manual clock: every time is exact.
#include "runtime/transport/shaped/transport.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "runtime/transport/loopback/transport.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;

struct Seen {
  std::vector<TransportEvent> events;

  int count(TransportEventKind kind) const {
    return static_cast<int>(
        std::count_if(events.begin(), events.end(), [kind](const auto& event) { return event.kind == kind; }));
  }
  const TransportEvent* last(TransportEventKind kind) const {
    const auto found =
        std::find_if(events.rbegin(), events.rend(), [kind](const auto& event) { return event.kind == kind; });
    return found == events.rend() ? nullptr : &*found;
  }
};

// `near` is shaped in both directions, `far` is its peer on the plain loopback.
class ShapedTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    shape_.out.delay = milliseconds(30);
    shape_.in.delay = milliseconds(20);
    control_ = *ShapedControl::create(shape_);
    near_ = make_shaped_transport(make_loopback_transport(fabric_).value(), control_, clock_, 1).value();
    far_ = make_loopback_transport(fabric_).value();
    address_ = *far_->listen({});
  }

  void pump() {
    for (int i = 0; i < 4; ++i) {
      pump_one(*near_, near_seen_);
      pump_one(*far_, far_seen_);
    }
  }
  void advance(Duration by) {
    clock_.advance(by);
    pump();
  }
  static void pump_one(Transport& transport, Seen& seen) {
    std::array<TransportEvent, 8> events;
    while (const std::size_t count = transport.progress(events)) {
      std::move(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count), std::back_inserter(seen.events));
    }
  }

  // Leaves lane_ and far_lane_ up.
  void open() {
    lane_ = *near_->connect(address_, "hi");
    advance(milliseconds(50));
    advance(milliseconds(50));
    ASSERT_EQ(near_seen_.count(TransportEventKind::kLaneUp), 1);
    ASSERT_EQ(far_seen_.count(TransportEventKind::kLaneAccepted), 1);
    far_lane_ = far_seen_.last(TransportEventKind::kLaneAccepted)->lane;
  }
  int far_received() const { return far_seen_.count(TransportEventKind::kReceived); }
  int near_received() const { return near_seen_.count(TransportEventKind::kReceived); }

  // The far side has room for `count` messages.
  void far_receives(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(far_->receive(far_lane_, far_buffer_, static_cast<std::uint64_t>(i)), PostResult::kAccepted);
    }
  }

  Shape shape_;
  ManualClock clock_;
  std::shared_ptr<LoopbackFabric> fabric_ = std::make_shared<LoopbackFabric>();
  std::shared_ptr<ShapedControl> control_;
  std::vector<std::byte> message_ = std::vector<std::byte>(1000, std::byte{7});
  std::vector<std::byte> far_buffer_ = std::vector<std::byte>(1 << 20), near_buffer_ = far_buffer_;
  std::unique_ptr<Transport> near_, far_;
  Seen near_seen_, far_seen_;
  std::string address_;
  LaneId lane_ = 0, far_lane_ = 0;
};

TEST_F(ShapedTransportTest, OpeningTakesARoundTrip) {
  lane_ = *near_->connect(address_, "hi");
  advance(milliseconds(30) - Duration(1));
  EXPECT_EQ(far_seen_.count(TransportEventKind::kLaneAccepted), 0);
  advance(Duration(1));
  EXPECT_EQ(far_seen_.count(TransportEventKind::kLaneAccepted), 1);
  EXPECT_EQ(far_seen_.events[0].greeting, "hi");
  advance(milliseconds(20) - Duration(1));
  EXPECT_EQ(near_seen_.count(TransportEventKind::kLaneUp), 0);
  EXPECT_EQ(near_->send(lane_, message_, 1), PostResult::kFull);
  advance(Duration(1));
  EXPECT_EQ(near_seen_.count(TransportEventKind::kLaneUp), 1);
}

TEST_F(ShapedTransportTest, AWrongAddressIsReported) {
  lane_ = *near_->connect("10.0.0.1:80", "");
  advance(milliseconds(30));
  ASSERT_EQ(near_seen_.count(TransportEventKind::kLaneDown), 1);
  EXPECT_EQ(near_seen_.events[0].status.code(), StatusCode::kInvalidArgument);
  shape_.out.delay = Duration(0);
  control_->set_shape(shape_);
  EXPECT_EQ(near_->connect("10.0.0.1:80", "").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShapedTransportTest, EachDirectionHasItsDelay) {
  open();
  far_receives(1);
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 5), PostResult::kAccepted);
  ASSERT_EQ(near_->send(lane_, message_, 6), PostResult::kAccepted);
  ASSERT_EQ(far_->send(far_lane_, message_, 7), PostResult::kAccepted);
  pump();
  EXPECT_EQ(near_seen_.count(TransportEventKind::kSent), 1) << "the copy is made at once";
  EXPECT_EQ(near_->next_due(), clock_.now() + milliseconds(20));
  advance(milliseconds(20) - Duration(1));
  EXPECT_EQ(near_received(), 0);
  advance(Duration(1));
  EXPECT_EQ(near_received(), 1);
  EXPECT_EQ(near_->next_due(), clock_.now() + milliseconds(10));
  advance(milliseconds(10) - Duration(1));
  EXPECT_EQ(far_received(), 0);
  advance(Duration(1));
  EXPECT_EQ(far_received(), 1);
  EXPECT_EQ(near_->next_due(), kNever);
}

TEST_F(ShapedTransportTest, LanesShareTheRate) {
  open();
  const LaneId second = *near_->connect(address_, "second");
  advance(milliseconds(50));
  advance(milliseconds(50));
  const LaneId far_second = far_seen_.last(TransportEventKind::kLaneAccepted)->lane;
  shape_.out.rate_bytes_per_sec = 1e6;  // 1 ms a message
  control_->set_shape(shape_);
  far_receives(3);
  std::vector<std::byte> other(1 << 20);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(far_->receive(far_second, other, i), PostResult::kAccepted);
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(near_->send(lane_, message_, i), PostResult::kAccepted);
    ASSERT_EQ(near_->send(second, message_, i), PostResult::kAccepted);
  }
  advance(milliseconds(30));
  for (int sent = 1; sent <= 6; ++sent) {
    EXPECT_EQ(far_received(), sent - 1);
    advance(milliseconds(1));
    EXPECT_EQ(far_received(), sent);
  }
}

TEST_F(ShapedTransportTest, AFullBufferHoldsTheSenderBack) {
  open();
  shape_.buffer_bytes = 2500;
  control_->set_shape(shape_);
  far_receives(3);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(near_->send(lane_, message_, i), PostResult::kAccepted);
  pump();
  EXPECT_EQ(near_seen_.count(TransportEventKind::kSent), 2);
  advance(milliseconds(30));
  EXPECT_EQ(near_seen_.count(TransportEventKind::kSent), 3);
  EXPECT_EQ(far_received(), 2);
  advance(milliseconds(30));
  EXPECT_EQ(far_received(), 3);
}

TEST_F(ShapedTransportTest, ALossHoldsUpWhatIsBehindIt) {
  open();
  far_receives(3);
  shape_.out.loss = 1;
  shape_.out.loss_delay = milliseconds(200);
  control_->set_shape(shape_);
  ASSERT_EQ(near_->send(lane_, message_, 1), PostResult::kAccepted);
  shape_.out.loss = 0;
  control_->set_shape(shape_);
  ASSERT_EQ(near_->send(lane_, message_, 2), PostResult::kAccepted);
  advance(milliseconds(230) - Duration(1));
  EXPECT_EQ(far_received(), 0);
  advance(Duration(1));
  EXPECT_EQ(far_received(), 2);
}

TEST_F(ShapedTransportTest, JitterKeepsTheOrder) {
  open();
  shape_.out.jitter = milliseconds(25);
  control_->set_shape(shape_);
  std::vector<std::byte> buffers[64];
  for (std::uint64_t i = 0; i < 64; ++i) {
    buffers[i].resize(1);
    ASSERT_EQ(far_->receive(far_lane_, buffers[i], i), PostResult::kAccepted);
    const std::byte number{static_cast<unsigned char>(i)};
    ASSERT_EQ(near_->send(lane_, {&number, 1}, i), PostResult::kAccepted);
    advance(milliseconds(1));
  }
  advance(milliseconds(60));
  ASSERT_EQ(far_received(), 64);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(buffers[i][0], static_cast<std::byte>(i));
}

TEST_F(ShapedTransportTest, NothingMovesInACut) {
  open();
  far_receives(1);
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 1), PostResult::kAccepted);
  ASSERT_EQ(near_->send(lane_, message_, 1), PostResult::kAccepted);
  ASSERT_EQ(far_->send(far_lane_, message_, 2), PostResult::kAccepted);
  pump();
  control_->cut();
  const LaneId dialled = *near_->connect(address_, "in the cut");
  advance(std::chrono::seconds(5));
  EXPECT_EQ(far_received(), 0);
  EXPECT_EQ(near_received(), 0);
  EXPECT_EQ(far_seen_.count(TransportEventKind::kLaneAccepted), 1);
  EXPECT_EQ(near_->next_due(), kNever);

  control_->heal();
  pump();
  EXPECT_EQ(near_->next_due(), clock_.now() + milliseconds(20));
  advance(milliseconds(20));
  EXPECT_EQ(near_received(), 1);
  EXPECT_EQ(far_received(), 0);
  advance(milliseconds(10));
  EXPECT_EQ(far_received(), 1);
  advance(milliseconds(20));
  EXPECT_EQ(near_seen_.last(TransportEventKind::kLaneUp)->lane, dialled);
}

TEST_F(ShapedTransportTest, OldLanesMayStallAfterAHeal) {
  open();
  far_receives(1);
  ASSERT_EQ(near_->send(lane_, message_, 1), PostResult::kAccepted);
  control_->cut();
  advance(milliseconds(100));
  control_->heal(std::chrono::seconds(2));
  pump();
  const LaneId fresh = *near_->connect(address_, "fresh");
  advance(milliseconds(30));
  advance(milliseconds(20));
  EXPECT_EQ(near_seen_.last(TransportEventKind::kLaneUp)->lane, fresh) << "a new lane does not stall";
  EXPECT_EQ(far_received(), 0);
  advance(milliseconds(1980) - Duration(1));
  EXPECT_EQ(far_received(), 0);
  advance(Duration(1));
  EXPECT_EQ(far_received(), 1);
}

TEST_F(ShapedTransportTest, AResetTakesAllLanesDownAtOnce) {
  open();
  const LaneId opening = *near_->connect(address_, "opening");
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 3), PostResult::kAccepted);
  ASSERT_EQ(near_->send(lane_, message_, 4), PostResult::kAccepted);
  control_->cut();
  control_->reset_lanes();
  pump();
  EXPECT_EQ(near_seen_.count(TransportEventKind::kLaneDown), 2);
  for (const TransportEvent& event : near_seen_.events) {
    if (event.kind != TransportEventKind::kLaneDown) continue;
    EXPECT_TRUE(event.lane == lane_ || event.lane == opening);
    EXPECT_EQ(event.status.code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(near_seen_.last(TransportEventKind::kReceived)->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(near_->send(lane_, message_, 5), PostResult::kDown);
  EXPECT_EQ(far_seen_.count(TransportEventKind::kLaneDown), 1);
}

TEST_F(ShapedTransportTest, ACloseReturnsWhatIsHeldBack) {
  open();
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 3), PostResult::kAccepted);
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 4), PostResult::kAccepted);
  ASSERT_EQ(far_->send(far_lane_, message_, 2), PostResult::kAccepted);
  pump();  // the message is in the line
  near_->close(lane_);
  pump();
  EXPECT_EQ(near_received(), 2);
  for (const TransportEvent& event : near_seen_.events) {
    if (event.kind != TransportEventKind::kReceived) continue;
    EXPECT_EQ(event.status.code(), StatusCode::kAborted);
  }
  ASSERT_EQ(near_seen_.count(TransportEventKind::kLaneDown), 1);
  EXPECT_TRUE(near_seen_.events.back().status.ok());
}

TEST_F(ShapedTransportTest, TheNewsOfADeathTravel) {
  open();
  ASSERT_EQ(near_->receive(lane_, near_buffer_, 3), PostResult::kAccepted);
  far_.reset();
  std::array<TransportEvent, 8> events;
  EXPECT_EQ(near_->progress(events), 0u);
  clock_.advance(milliseconds(20) - Duration(1));
  EXPECT_EQ(near_->progress(events), 0u);
  clock_.advance(Duration(1));
  ASSERT_EQ(near_->progress(events), 2u);
  EXPECT_EQ(events[0].kind, TransportEventKind::kReceived);
  EXPECT_EQ(events[1].kind, TransportEventKind::kLaneDown);
  EXPECT_EQ(events[1].status.code(), StatusCode::kUnavailable);
}

TEST_F(ShapedTransportTest, AChangeWakesASleeper) {
  open();
  while (!near_->arm()) pump();
  std::thread hand([this] { control_->cut(); });
  pollfd entry{near_->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 5000), 1);
  hand.join();
  EXPECT_FALSE(near_->arm()) << "the change was not taken in yet";
  pump();
  EXPECT_TRUE(near_->arm());
}

TEST_F(ShapedTransportTest, ItCannotBeArmedWhenSomethingIsDue) {
  open();
  far_receives(1);
  ASSERT_EQ(near_->send(lane_, message_, 1), PostResult::kAccepted);
  pump();
  EXPECT_TRUE(near_->arm());
  clock_.advance(milliseconds(30));
  EXPECT_FALSE(near_->arm());
}

}  // namespace
}  // namespace isthmus
