#include "runtime/bootstrap/key_table.h"

#include <gtest/gtest.h>

#include <limits>

namespace isthmus {
namespace {

TEST(KeyTable, KeepsTheLastValue) {
  KeyTable table;
  EXPECT_EQ(table.find("a"), nullptr);
  table.set("a", "1");
  table.set("a", "2");
  ASSERT_NE(table.find("a"), nullptr);
  EXPECT_EQ(*table.find("a"), "2");
  table.remove("a");
  EXPECT_EQ(table.find("a"), nullptr);
}

TEST(KeyTable, SumsCountersAndRefusesTheRest) {
  KeyTable table;
  EXPECT_EQ(*table.sum("n", -3), -3);
  table.set("n", "40");
  EXPECT_EQ(*table.sum("n", 2), 42);
  table.set("n", fmt::format("{}", std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(table.sum("n", 1).status().code(), StatusCode::kInvalidArgument);
  for (const char* value : {"", "x", "1x", "1.0"}) {
    table.set("n", value);
    EXPECT_EQ(table.sum("n", 1).status().code(), StatusCode::kInvalidArgument) << value;
  }
}

}  // namespace
}  // namespace isthmus
