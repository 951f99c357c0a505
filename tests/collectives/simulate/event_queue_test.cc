#include "collectives/simulate/event_queue.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(EventQueue, ByTimeThenInTheOrderOfPlanning) {
  EventQueue queue;
  queue.plan(20, 1, 1);
  queue.plan(10, 1, 2);
  queue.plan(20, 1, 3);
  queue.plan(10, 1, 4);
  std::vector<std::uint32_t> subjects;
  while (!queue.empty()) subjects.push_back(queue.take().subject);
  EXPECT_EQ(subjects, (std::vector<std::uint32_t>{2, 4, 1, 3}));
  EXPECT_EQ(queue.planned(), 4u);
}

}  // namespace
}  // namespace isthmus
