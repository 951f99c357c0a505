#include "runtime/engine/message_matcher.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

// This is rank 0 of 3.
class MessageMatcherTest : public testing::Test {
 protected:
  void post(const char* what, std::optional<std::uint32_t> from, std::uint32_t tag = 1) {
    OperationRequest request;
    request.what = what;
    request.key.communicator = 7;
    request.key.tag = tag;
    request.is_receive = true;
    request.receives_from = from;
    request.timeout = std::chrono::seconds(10);
    request.on_matched = [](std::uint32_t) { return std::make_shared<const Schedule>(); };
    matcher_.post(std::move(request), TimePoint());
  }
  // "what sender #sequence", or "-".
  std::string next() {
    const auto request = matcher_.next_matched();
    if (!request) return "-";
    return request->what + " " + std::to_string(request->key.pair / kMaxPointToPointRanks) + " #" +
           std::to_string(request->key.sequence);
  }
  void arrive(std::uint32_t sender, std::uint64_t sequence, std::uint32_t tag = 1) {
    arrived_[{7, sequence, tag, point_to_point_pair(sender, 0)}] = ++last_arrival_;
  }

  std::map<OperationKey, std::uint64_t> arrived_;
  std::uint64_t last_arrival_ = 0;
  MessageMatcher matcher_{0, 3, [this](std::uint32_t, const OperationKey& key) { return arrived_[key]; }};
};

TEST_F(MessageMatcherTest, ReceivesOfOneSenderAreNumberedByTag) {
  post("a", 1);
  post("b", 2);
  post("c", 1);
  post("d", 1, 5);
  EXPECT_EQ(next(), "a 1 #1");
  EXPECT_EQ(next(), "b 2 #1");
  EXPECT_EQ(next(), "c 1 #2");
  EXPECT_EQ(next(), "d 1 #1");
  EXPECT_EQ(next(), "-");
  EXPECT_TRUE(matcher_.empty());
}

TEST_F(MessageMatcherTest, FromAnyTakesTheEarliestThatHasArrived) {
  post("any", std::nullopt);
  EXPECT_EQ(next(), "-");
  arrive(2, 2);  // not the next of rank 2
  arrive(1, 1, 9);
  EXPECT_EQ(next(), "-");
  arrive(2, 1);
  arrive(1, 1);
  EXPECT_EQ(next(), "any 2 #1");
  post("again", std::nullopt);
  EXPECT_EQ(next(), "again 2 #2");  // it was there first
}

TEST_F(MessageMatcherTest, LaterReceivesOfTheTagWaitForTheOneFromAny) {
  post("any", std::nullopt);
  post("from 1", 1);
  post("other tag", 1, 2);
  EXPECT_EQ(next(), "other tag 1 #1");
  EXPECT_EQ(next(), "-");
  arrive(1, 1);
  EXPECT_EQ(next(), "any 1 #1");
  EXPECT_EQ(next(), "from 1 1 #2");
}

TEST_F(MessageMatcherTest, WaitingEndsAtTheTimeoutOrWhenNobodyIsLeft) {
  post("any", std::nullopt);
  const auto nobody = [](std::uint32_t) { return false; };
  EXPECT_TRUE(matcher_.check(TimePoint() + std::chrono::seconds(9), nobody).ok());
  EXPECT_EQ(matcher_.check(TimePoint() + std::chrono::seconds(10), nobody).code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(matcher_.check(TimePoint(), [](std::uint32_t rank) { return rank == 1; }).ok());
  EXPECT_EQ(matcher_.check(TimePoint(), [](std::uint32_t rank) { return rank != 0; }).code(), StatusCode::kUnavailable);
  EXPECT_EQ(matcher_.take_all().size(), 1u);
  EXPECT_TRUE(matcher_.empty());
}

}  // namespace
}  // namespace isthmus
