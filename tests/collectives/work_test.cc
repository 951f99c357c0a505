#include "collectives/work.h"

#include <gtest/gtest.h>

#include <future>

namespace isthmus {
namespace {

TEST(Work, AWaitThatGivesUpChangesNothing) {
  CompletionThread completions;
  Work work(7, "barrier #7", &completions, [] {});
  const Status status = work.wait(std::chrono::milliseconds(10));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().find("barrier #7"), std::string::npos);
  EXPECT_FALSE(work.done());
  work.finish(Status());
  EXPECT_TRUE(work.wait(Duration(-1)).ok());
  EXPECT_TRUE(work.wait(Duration(0)).ok());
}

TEST(Work, CallbacksRunOnceBeforeOrAfterTheEnd) {
  CompletionThread completions;
  Work early(1, "a", &completions, [] {}), late(2, "b", &completions, [] {});
  std::promise<Status> told;
  EXPECT_TRUE(early.on_complete([&](const Status& status) { told.set_value(status); }).ok());
  EXPECT_EQ(early.on_complete([](const Status&) {}).code(), StatusCode::kInvalidArgument);
  early.finish(unavailable("gone"));
  EXPECT_EQ(told.get_future().get().message(), "gone");
  late.finish(Status());
  int runs = 0;
  EXPECT_TRUE(late.on_complete([&](const Status&) { ++runs; }).ok());
  EXPECT_EQ(runs, 1);
}

TEST(Work, AbortReachesOnlyWhatIsInFlight) {
  CompletionThread completions;
  int aborts = 0;
  Work work(1, "a", &completions, [&] { ++aborts; });
  work.abort();
  work.finish(aborted("given up"));
  work.abort();
  EXPECT_EQ(aborts, 1);
}

}  // namespace
}  // namespace isthmus
