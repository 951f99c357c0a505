#include "runtime/engine/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>

namespace isthmus {
namespace {

void add(void* sum, std::uint32_t value) { static_cast<std::atomic<int>*>(sum)->fetch_add(static_cast<int>(value)); }

TEST(WorkerPool, RunsEverythingBeforeItEnds) {
  for (const int threads : {0, 1, 3}) {
    std::atomic<int> sum{0};
    {
      WorkerPool pool(threads, "test");
      for (std::uint32_t i = 1; i <= 100; ++i) pool.submit({add, &sum, i});
    }
    EXPECT_EQ(sum.load(), 5050) << threads << " threads";
  }
}

TEST(WorkerPool, WithoutThreadsTheJobRunsInSubmit) {
  std::atomic<int> sum{0};
  WorkerPool pool(0, "test");
  pool.submit({add, &sum, 5});
  EXPECT_EQ(sum.load(), 5);
}

}  // namespace
}  // namespace isthmus
