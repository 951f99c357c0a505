#include "runtime/bootstrap/prefix_store.h"

#include <gtest/gtest.h>

#include "runtime/bootstrap/memory_store.h"

namespace isthmus {
namespace {

TEST(PrefixStore, PrefixesKeepGroupsApart) {
  MemoryStore root;
  PrefixStore a("a/", std::move(root.clone()).value()), b("b/", std::move(root.clone()).value());
  ASSERT_TRUE(a.set("key", "1", kNever).ok());
  ASSERT_TRUE(b.set("key", "2", kNever).ok());
  EXPECT_EQ(*a.get("key", kNever), "1");
  EXPECT_EQ(*root.get("a/key", kNever), "1");
  EXPECT_EQ(*root.get("b/key", kNever), "2");
  EXPECT_EQ(*(*a.clone())->get("key", kNever), "1");
}

}  // namespace
}  // namespace isthmus
