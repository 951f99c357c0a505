#include "benchmarks/lab/packet_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace isthmus::lab {
namespace {

TEST(PacketPool, GivesEachSlotOnce) {
  const auto pool = PacketPool::create(1500, 3);
  ASSERT_TRUE(pool.ok());
  PacketPool& slots = **pool;
  EXPECT_GE(slots.slot_bytes(), 1500u);
  const PacketId first = slots.take();
  const PacketId second = slots.take();
  const PacketId third = slots.take();
  EXPECT_EQ(slots.take(), kNoPacket);
  EXPECT_EQ(slots.used_count(), 3u);
  std::memset(slots.data(first), 1, slots.slot_bytes());
  std::memset(slots.data(third), 3, slots.slot_bytes());
  std::memset(slots.data(second), 2, slots.slot_bytes());
  EXPECT_EQ(slots.data(first)[slots.slot_bytes() - 1], std::byte{1});
  EXPECT_EQ(slots.data(third)[0], std::byte{3});
  slots.give_back(second);
  EXPECT_EQ(slots.used_count(), 2u);
  EXPECT_EQ(slots.take(), second);
}

}  // namespace
}  // namespace isthmus::lab
