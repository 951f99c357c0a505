#include "runtime/engine/completion_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <vector>

namespace isthmus {
namespace {

TEST(CompletionThread, RunsInOrderAndDrainsAtTheEnd) {
  std::vector<int> order;
  {
    CompletionThread completions;
    for (int i = 0; i < 50; ++i) completions.post([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(CompletionThread, AFunctionMayPostAnother) {
  int runs = 0;
  {
    CompletionThread completions;
    completions.post([&] { completions.post([&runs] { ++runs; }); });
  }
  EXPECT_EQ(runs, 1);
}

TEST(CompletionThread, OneAtATimeWhileNoneIsSlow) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  {
    CompletionThread completions(std::chrono::milliseconds(60'000));
    for (int i = 0; i < 200; ++i) {
      completions.post([&] {
        most = std::max(most.load(), ++running);
        --running;
      });
    }
  }
  EXPECT_EQ(most, 1);
}

TEST(CompletionThread, AFunctionMayWaitForOneBehindIt) {
  constexpr int kDepth = 10;
  std::vector<std::promise<void>> done(kDepth + 1);
  {
    CompletionThread completions(std::chrono::milliseconds(1));
    for (int i = 0; i < kDepth; ++i) {
      completions.post([&done, i] {
        const auto next = done[static_cast<std::size_t>(i) + 1].get_future();
        if (next.wait_for(std::chrono::seconds(30)) == std::future_status::ready) {
          done[static_cast<std::size_t>(i)].set_value();
        }
      });
    }
    completions.post([&done] { done[kDepth].set_value(); });
    EXPECT_EQ(done[0].get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
}

TEST(CompletionThread, WhatIsPostedWhileOneWaitsRunsInOrder) {
  std::vector<int> order;
  std::promise<void> last;
  {
    CompletionThread completions(std::chrono::milliseconds(100));
    completions.post([&] { last.get_future().wait_for(std::chrono::seconds(30)); });
    for (int i = 0; i < 50; ++i) completions.post([&order, i] { order.push_back(i); });
    completions.post([&] { last.set_value(); });
  }
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace isthmus
