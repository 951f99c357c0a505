#include "runtime/engine/completion_thread.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace isthmus
