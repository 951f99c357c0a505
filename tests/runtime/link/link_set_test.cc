// Two LinkSets: striping, loss of lanes, reset of all, unreachable peers.
#include "tests/runtime/link/link_pair.h"

namespace isthmus {
namespace {

using LinkSetTest = LinkPair;

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
    EXPECT_LE(side.traffic.sent_bytes.value(), bytes + bytes * 3 / 200);
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
