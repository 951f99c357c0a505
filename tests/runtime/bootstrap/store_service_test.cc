#include "runtime/bootstrap/store_service.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

using Replies = std::vector<StoreService::Reply>;

TEST(StoreService, AGetIsAnsweredWhenItsKeyIsSet) {
  StoreService service;
  Replies replies;
  service.handle(1, {10, StoreCall::kGet, "key", "", 0}, &replies);
  service.handle(2, {20, StoreCall::kGet, "key", "", 0}, &replies);
  EXPECT_TRUE(replies.empty());
  EXPECT_EQ(service.waiting_count(), 2u);
  service.handle(3, {30, StoreCall::kSet, "key", "value", 0}, &replies);
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].connection, 3u);
  EXPECT_EQ(replies[1].answer.id, 10u);
  EXPECT_EQ(replies[2].answer.id, 20u);
  EXPECT_EQ(replies[2].answer.value, "value");
  EXPECT_EQ(service.waiting_count(), 0u);
}

TEST(StoreService, CancelledAndForgottenGetsAreNotAnswered) {
  StoreService service;
  Replies replies;
  service.handle(1, {10, StoreCall::kGet, "key", "", 0}, &replies);
  service.handle(1, {11, StoreCall::kGet, "key", "", 0}, &replies);
  service.handle(2, {10, StoreCall::kGet, "key", "", 0}, &replies);
  service.handle(1, {10, StoreCall::kCancel, "", "", 0}, &replies);
  service.forget(2);
  EXPECT_EQ(service.waiting_count(), 1u);
  service.handle(3, {30, StoreCall::kAdd, "key", "", 4}, &replies);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].answer.number, 4);
  EXPECT_EQ(replies[1].answer.id, 11u);
  EXPECT_EQ(replies[1].answer.value, "4");
}

TEST(StoreService, EveryOtherCallHasOneAnswer) {
  StoreService service;
  Replies replies;
  service.handle(1, {1, StoreCall::kContains, "key", "", 0}, &replies);
  service.handle(1, {2, StoreCall::kSet, "key", "x", 0}, &replies);
  service.handle(1, {3, StoreCall::kContains, "key", "", 0}, &replies);
  service.handle(1, {4, StoreCall::kAdd, "key", "", 1}, &replies);
  service.handle(1, {5, StoreCall::kRemove, "key", "", 0}, &replies);
  service.handle(1, {6, StoreCall::kContains, "key", "", 0}, &replies);
  ASSERT_EQ(replies.size(), 6u);
  EXPECT_EQ(replies[0].answer.number, 0);
  EXPECT_EQ(replies[2].answer.number, 1);
  EXPECT_EQ(replies[3].answer.status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(replies[5].answer.number, 0);
}

}  // namespace
}  // namespace isthmus
