#include "runtime/bootstrap/memory_store.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

const TimePoint kDeadline = kNever;

TEST(MemoryStore, StoresOfOneNameShareTheirKeys) {
  const auto a = MemoryStore::named("world"), b = MemoryStore::named("world"), c = MemoryStore::named("another");
  ASSERT_TRUE(a->set("key", "value", kDeadline).ok());
  EXPECT_TRUE(*b->contains("key", kDeadline));
  EXPECT_FALSE(*c->contains("key", kDeadline));
  EXPECT_FALSE(*MemoryStore().contains("key", kDeadline));
}

TEST(MemoryStore, KeysEndWithTheLastStoreOfTheName) {
  ASSERT_TRUE(MemoryStore::named("short")->set("key", "value", kDeadline).ok());
  EXPECT_FALSE(*MemoryStore::named("short")->contains("key", kDeadline));
}

}  // namespace
}  // namespace isthmus
