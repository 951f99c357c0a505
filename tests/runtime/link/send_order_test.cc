#include "runtime/link/send_order.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace isthmus {
namespace {

// Operations are ints; all may send, but for those that are held back.
struct Operations {
  int a = 0, b = 0, c = 0;
  std::set<void*> held;
  SendOrder order;
  void* pick() {
    return order.pick([&](void* operation) { return !held.contains(operation); });
  }
  std::map<void*, int> turns(int count, std::size_t bytes = 1000) {
    std::map<void*, int> taken;
    for (int i = 0; i < count; ++i) {
      void* const picked = pick();
      ++taken[picked];
      order.sent(picked, bytes);
    }
    return taken;
  }
};

TEST(SendOrder, OldestFirstWithinACommunicatorPastTheOnesThatWait) {
  Operations o;
  EXPECT_EQ(o.pick(), nullptr);
  o.order.add(&o.a, 1, 0);
  o.order.add(&o.b, 1, 0);
  EXPECT_EQ(o.turns(20)[&o.a], 20);
  o.held = {&o.a};
  EXPECT_EQ(o.turns(20)[&o.b], 20);
  o.held.clear();
  o.order.remove(&o.a);
  EXPECT_EQ(o.pick(), &o.b);
  o.order.remove(&o.b);
  EXPECT_EQ(o.pick(), nullptr);
}

TEST(SendOrder, CommunicatorsShareByBytesAndNewcomersDoNotCatchUp) {
  Operations o;
  o.order.add(&o.a, 1, 0);
  o.turns(100);
  o.order.add(&o.b, 2, 0);
  auto taken = o.turns(100);
  EXPECT_NEAR(taken[&o.a], 50, 2);
  EXPECT_NEAR(taken[&o.b], 50, 2);
  // One sends segments of a third of the other's size, and so has three times as many.
  int of_a = 0;
  for (int i = 0; i < 400; ++i) {
    void* const picked = o.pick();
    of_a += picked == &o.a ? 1 : 0;
    o.order.sent(picked, picked == &o.a ? 10000 : 30000);
  }
  EXPECT_NEAR(of_a, 300, 6);
}

TEST(SendOrder, PriorityGoesFirstAndTheLowestDoesNotStarve) {
  Operations o;
  o.order.add(&o.a, 1, 0);
  o.order.add(&o.b, 1, 5);
  o.order.add(&o.c, 2, -3);
  auto taken = o.turns(80);
  EXPECT_EQ(taken[&o.b], 70);
  EXPECT_EQ(taken[&o.c], 10);
  o.held = {&o.b};
  taken = o.turns(80);
  EXPECT_EQ(taken[&o.a], 70);
  EXPECT_EQ(taken[&o.c], 10);
}

}  // namespace
}  // namespace isthmus
