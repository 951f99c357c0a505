#include "runtime/transport/ring_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

namespace isthmus {
namespace {

TEST(RingQueue, BehavesAsAQueue) {
  RingQueue<int> ring;
  std::deque<int> model;
  std::mt19937 random(1);
  for (int step = 0; step < 20'000; ++step) {
    // Waves: the queue grows past several sizes and runs empty in between.
    const bool grow = (step / 500) % 2 == 0;
    if (model.empty() || random() % 3 != (grow ? 0u : 1u)) {
      if (grow || model.empty()) {
        ring.push(step);
        model.push_back(step);
        continue;
      }
    }
    ASSERT_EQ(ring.front(), model.front());
    ASSERT_EQ(ring.pop(), model.front());
    model.pop_front();
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
  }
}

TEST(RingQueue, LetsGoOfWhatWasTaken) {
  RingQueue<std::shared_ptr<int>> ring;
  const auto value = std::make_shared<int>(1);
  ring.push(value);
  EXPECT_EQ(value.use_count(), 2);
  ring.pop();
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace isthmus
