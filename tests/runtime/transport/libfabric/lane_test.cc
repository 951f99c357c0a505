#include "runtime/transport/libfabric/lane.h"

#include <gtest/gtest.h>

#include <set>

namespace isthmus {
namespace {

TEST(LibfabricOpPool, UsesOperationsAgain) {
  LibfabricOpPool pool;
  std::set<LibfabricOp*> taken;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(taken.insert(pool.take()).second);
  for (LibfabricOp* op : taken) pool.give_back(op);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(taken.contains(pool.take()));
}

TEST(LibfabricLane, KeepsOperationsInOrder) {
  LibfabricOpPool pool;
  LibfabricLane lane;
  LibfabricOp* ops[4];
  for (int i = 0; i < 4; ++i) {
    ops[i] = pool.take();
    ops[i]->is_send = i % 2 == 0;
    lane.link(ops[i]);
  }
  EXPECT_EQ(lane.open_sends, 2u);
  EXPECT_EQ(lane.open_receives, 2u);
  lane.unlink(ops[1]);
  EXPECT_EQ(lane.first, ops[0]);
  EXPECT_EQ(ops[0]->next, ops[2]);
  lane.unlink(ops[0]);
  lane.unlink(ops[3]);
  EXPECT_EQ(lane.first, ops[2]);
  EXPECT_EQ(lane.last, ops[2]);
  lane.unlink(ops[2]);
  EXPECT_EQ(lane.first, nullptr);
  EXPECT_EQ(lane.last, nullptr);
  EXPECT_EQ(lane.open_sends + lane.open_receives, 0u);
}

}  // namespace
}  // namespace isthmus
