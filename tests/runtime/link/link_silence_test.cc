// Paths that fall silent, lanes that stall, addresses that do not answer.
#include "tests/runtime/link/link_pair.h"

namespace isthmus {
namespace {

using namespace std::chrono_literals;

class LinkSilenceTest : public LinkPair {
 protected:
  // Posts a transfer from `from` to the other side.
  void post(int from, const std::string& text) {
    const int to = 1 - from;
    got_[to].assign(text.size(), '.');
    sides_[from].link->send(kKey, 0, as_bytes(text), 1);
    sides_[to].link->receive(kKey, 0, std::as_writable_bytes(std::span(got_[to])), 2);
  }
  void open_both(std::size_t bytes) {
    for (Side& side : sides_) side.link->open(kKey, "d", bytes, &side.operation);
  }
  // One transfer from `from`, over a line of this rate.
  std::string send_one(int from, std::size_t bytes, double rate_bytes_per_sec, LinkSetOptions options = {}) {
    start(wan(rate_bytes_per_sec, 0), options);
    const std::string text = random_text(bytes, 1);
    open_both(bytes);
    post(from, text);
    return text;
  }
  void cut() {
    for (Side& side : sides_) side.control->cut();
  }
  // The lanes of before stay dead for longer than any test waits.
  void heal() {
    for (Side& side : sides_) side.control->heal(10s);
  }

  std::string got_[2];
};

TEST_F(LinkSilenceTest, ASilentPathIsProbedAndGoesOnWithinASecondOfTheHeal) {
  start(wan(20e6, 0));
  const std::string a = random_text(1'500'000, 1), b = random_text(1'500'000, 2);
  open_both(a.size());
  post(0, a);
  post(1, b);
  ASSERT_TRUE(run_until([&] { return sides_[0].operation.advances > 20 && sides_[1].operation.advances > 20; }));
  ASSERT_FALSE(received(0) || received(1));
  cut();
  EXPECT_FALSE(run_until([&] { return received(0) && received(1); }, 4s));
  heal();
  EXPECT_TRUE(run_until([&] { return received(0) && received(1); }, 1s));
  EXPECT_TRUE(got_[0] == b);
  EXPECT_TRUE(got_[1] == a);
  EXPECT_TRUE(run_until([&] { return sides_[0].set->drained() && sides_[1].set->drained(); }, 1s));
}

// The dialling side owes and awaits nothing: the other one tells it over the control connection, which here still
// works.
TEST_F(LinkSilenceTest, ASilentPathIsProbedAlsoWhenOnlyTheLargerIdHasSomethingToSend) {
  const std::string b = send_one(1, 3'000'000, 20e6);
  ASSERT_TRUE(run_until([&] { return sides_[0].operation.advances > 20; }));
  ASSERT_FALSE(received(0));
  cut();
  EXPECT_FALSE(run_until([&] { return received(0); }, 4s));
  heal();
  EXPECT_TRUE(run_until([&] { return received(0); }, 1s));
  EXPECT_TRUE(got_[0] == b);
}

TEST_F(LinkSilenceTest, ASilenceBeyondTheLimitFailsAndNamesThePeer) {
  LinkSetOptions options;
  options.reach_limit = 3s;
  const std::string a = send_one(0, 3'000'000, 20e6, options);
  ASSERT_TRUE(run_until([&] { return sides_[1].operation.advances > 20; }));
  cut();
  ASSERT_TRUE(run_until([&] { return !sides_[0].link->status().ok(); }, 4s));
  EXPECT_EQ(sides_[0].link->status().code(), StatusCode::kUnavailable);
  EXPECT_NE(sides_[0].link->status().message().find("side 1"), std::string::npos);
}

TEST_F(LinkSilenceTest, SlowIsNotDead) {
  LinkSetOptions options;
  options.reach_limit = 3s;
  const std::string a = send_one(0, 300'000, 20e3, options);
  EXPECT_TRUE(run_until([&] { return received(1); }, 60s)) << sides_[0].link->status().to_string();
  EXPECT_TRUE(got_[1] == a);
}

TEST_F(LinkSilenceTest, TheFirstAddressThatAnswersServes) {
  const auto gone = make_loopback_transport(fabric_).value();
  for (int i = 0; i < 2; ++i) unreachable_.push_back(gone->listen({"127.0.0.1", "", 0, 0}).value() + "0000");
  start(wan(20e6, 0));
  exchange(random_text(100'000, 1), random_text(100'000, 2));
}

// A retransmission on a lane takes at least 200 ms; the others have its segments there before.
TEST_F(LinkSilenceTest, WhatIsOverdueOnOneLaneGoesAgainOnAnother) {
  start(wan(20e6, 0));
  const std::string a = random_text(8'000'000, 1);
  open_both(a.size());
  post(0, a);
  ASSERT_TRUE(run_until([&] { return sides_[1].operation.advances > 40; }));
  for (Side& side : sides_) side.control->set_shape(wan(20e6, 0.03));
  ASSERT_TRUE(run_until([&] { return received(1); }));
  EXPECT_TRUE(got_[1] == a);
  EXPECT_GT(sides_[0].traffic.resent_bytes.value(), 0u);
}

}  // namespace
}  // namespace isthmus
