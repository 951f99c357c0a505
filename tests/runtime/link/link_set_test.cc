// Two LinkSets over a shaped loopback with a manual clock: striping, loss of lanes, reset of all, unreachable peers.
#include "runtime/link/link_set.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/transport/loopback/transport.h"
#include "runtime/transport/shaped/control.h"
#include "runtime/transport/shaped/transport.h"
#include "tests/runtime/link/recording_operation.h"

namespace isthmus {
namespace {

constexpr OperationKey kKey{42, 1, 0, 0};

class LinkSetTest : public testing::Test {
 protected:
  struct Side {
    std::shared_ptr<ShapedControl> control;
    Traffic traffic;
    std::unique_ptr<LinkSet> set;
    std::string address;
    Link* link = nullptr;
    RecordingOperation operation;
    int dial_requests = 0, lanes_requested = 0;
  };

  void start(const Shape& shape, LinkSetOptions options = {}) {
    for (int i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      side.control = ShapedControl::create(shape).value();
      auto inner = make_loopback_transport(fabric_).value();
      auto transport =
          make_shaped_transport(std::move(inner), side.control, clock_, 11u + static_cast<unsigned>(i)).value();
      side.set = std::make_unique<LinkSet>(
          options, &clock_, std::move(transport), kIds[i], &side.traffic,
          [&side](ProcessId, int lanes) { side.lanes_requested = lanes, ++side.dial_requests; });
      side.address = side.set->listen({"127.0.0.1", "", 0, 0}).value();
    }
    for (int i = 0; i < 2; ++i)
      sides_[i].link = sides_[i].set->get({kIds[1 - i], fmt::format("side {}", 1 - i), {sides_[1 - i].address}});
  }

  // Moves both sides and the clock until `done` holds, for at most `limit` of manual time.
  template <typename Done>
  bool run_until(Done done, Duration limit = std::chrono::seconds(60)) {
    const TimePoint end = clock_.now() + limit;
    while (!done()) {
      bool moved = false;
      for (Side& side : sides_) moved |= side.set->progress();
      for (int i = 0; i < 2; ++i) {
        while (sides_[i].dial_requests > 0) {
          --sides_[i].dial_requests;
          sides_[1 - i].set->dial(kIds[i], sides_[i].lanes_requested);
        }
      }
      if (moved) continue;
      if (clock_.now() > end) return false;
      clock_.advance(std::chrono::microseconds(500));
    }
    return true;
  }

  void exchange(const std::string& a, const std::string& b) {
    std::string got_a(b.size(), '.'), got_b(a.size(), '.');
    const std::string* sources[2] = {&a, &b};
    std::string* targets[2] = {&got_a, &got_b};
    for (int i = 0; i < 2; ++i) {
      sides_[i].link->open(kKey, "d", targets[i]->size() + 1, &sides_[i].operation);
      sides_[i].link->send(kKey, 0, as_bytes(*sources[i]), 1);
      sides_[i].link->receive(kKey, 0, std::as_writable_bytes(std::span(*targets[i])), 2);
    }
    ASSERT_TRUE(run_until([&] { return received(0) && received(1); }));
    EXPECT_TRUE(got_a == b);
    EXPECT_TRUE(got_b == a);
    ASSERT_TRUE(run_until([&] { return sides_[0].set->drained() && sides_[1].set->drained(); }));
  }
  bool received(int i) const { return sides_[i].operation.received.size() == 1; }

  static std::string random_text(std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }

  static constexpr ProcessId kIds[2] = {5, 9};
  ManualClock clock_;
  std::shared_ptr<LoopbackFabric> fabric_ = std::make_shared<LoopbackFabric>();
  Side sides_[2];
};

Shape wan(double rate_bytes_per_sec, double loss) {
  Shape shape;
  for (DirectionShape* direction : {&shape.out}) {
    direction->delay = std::chrono::milliseconds(30);
    direction->jitter = std::chrono::milliseconds(2);
    direction->rate_bytes_per_sec = rate_bytes_per_sec;
    direction->loss = loss;
  }
  return shape;
}

TEST_F(LinkSetTest, BothDirectionsAtOnceOverFourLanes) {
  LinkSetOptions options;
  options.link.first_lanes = options.link.most_lanes = 3;  // and one for acknowledgements
  start(wan(25e6, 0), options);
  exchange(random_text(3'000'001, 1), random_text(1'000'003, 2));
  EXPECT_EQ(sides_[0].link->lane_count(), 4u);
  EXPECT_EQ(sides_[1].link->lane_count(), 4u);
}

TEST_F(LinkSetTest, FrameOverheadIsSmall) {
  start(wan(25e6, 0));
  const std::size_t bytes = 8'000'000;
  exchange(random_text(bytes, 1), random_text(bytes, 2));
  for (const Side& side : sides_) {
    EXPECT_GE(side.traffic.sent_bytes.value(), bytes);
    EXPECT_LE(side.traffic.sent_bytes.value(), bytes + bytes / 100);
  }
}

TEST_F(LinkSetTest, LossDelaysAndChangesNothing) {
  start(wan(25e6, 0.02));
  exchange(random_text(2'000'000, 3), random_text(2'000'000, 4));
}

TEST_F(LinkSetTest, LanesResetInTheMiddleAreDialledAnewAndNothingIsLostOrTwice) {
  start(wan(5e6, 0));
  const std::string a = random_text(4'000'000, 5), b = random_text(4'000'000, 6);
  std::string got_a(b.size(), '.'), got_b(a.size(), '.');
  sides_[0].link->open(kKey, "d", b.size(), &sides_[0].operation);
  sides_[1].link->open(kKey, "d", a.size(), &sides_[1].operation);
  sides_[0].link->send(kKey, 0, as_bytes(a), 1);
  sides_[1].link->send(kKey, 0, as_bytes(b), 1);
  sides_[0].link->receive(kKey, 0, std::as_writable_bytes(std::span(got_a)), 2);
  sides_[1].link->receive(kKey, 0, std::as_writable_bytes(std::span(got_b)), 2);
  for (int reset = 0; reset < 4; ++reset) {
    const int advances = sides_[1].operation.advances;
    ASSERT_TRUE(run_until([&] { return sides_[1].operation.advances > advances + 20; }));
    sides_[reset % 2].control->reset_lanes();
  }
  ASSERT_TRUE(run_until([&] { return received(0) && received(1); }));
  EXPECT_TRUE(got_a == b);
  EXPECT_TRUE(got_b == a);
  ASSERT_TRUE(run_until([&] { return sides_[0].set->drained() && sides_[1].set->drained(); }));
}

TEST_F(LinkSetTest, ACutHoldsEverythingAndHealsWithoutLoss) {
  start(wan(5e6, 0));
  const std::string a = random_text(2'000'000, 7);
  std::string got(a.size(), '.');
  sides_[0].link->open(kKey, "d", 0, &sides_[0].operation);
  sides_[1].link->open(kKey, "d", a.size(), &sides_[1].operation);
  sides_[0].link->send(kKey, 0, as_bytes(a), 1);
  sides_[1].link->receive(kKey, 0, std::as_writable_bytes(std::span(got)), 2);
  ASSERT_TRUE(run_until([&] { return sides_[1].operation.advances > 10; }));
  for (Side& side : sides_) side.control->cut();
  EXPECT_FALSE(run_until([&] { return received(1); }, std::chrono::seconds(5)));
  for (Side& side : sides_) side.control->heal();
  ASSERT_TRUE(run_until([&] { return received(1); }));
  EXPECT_TRUE(got == a);
}

TEST_F(LinkSetTest, TheLargerIdAsksToBeDialled) {
  start(wan(0, 0));
  const std::string a = random_text(1000, 8);
  std::string got(a.size(), '.');
  sides_[1].link->open(kKey, "d", 0, &sides_[1].operation);  // side 0 has not called anything yet
  sides_[1].link->send(kKey, 0, as_bytes(a), 1);
  ASSERT_TRUE(run_until([&] { return !sides_[1].operation.sent.empty(); }));
  sides_[0].link->open(kKey, "d", a.size(), &sides_[0].operation);
  sides_[0].link->receive(kKey, 0, std::as_writable_bytes(std::span(got)), 2);
  ASSERT_TRUE(run_until([&] { return received(0); }));
  EXPECT_EQ(got, a);
}

TEST_F(LinkSetTest, AnUnreachablePeerFailsTheLinkAndNamesTheAddress) {
  LinkSetOptions options;
  options.reach_limit = std::chrono::seconds(3);
  start(wan(0, 0), options);
  const std::string gone = sides_[1].address;
  sides_[1].set.reset();
  RecordingOperation operation;
  sides_[0].link->open(kKey, "d", 1, &operation);
  const TimePoint start_time = clock_.now();
  while (sides_[0].link->status().ok() && clock_.now() < start_time + std::chrono::seconds(10)) {
    sides_[0].set->progress();
    clock_.advance(std::chrono::milliseconds(1));
  }
  const Status status = sides_[0].link->status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(gone), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("side 1"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace isthmus
