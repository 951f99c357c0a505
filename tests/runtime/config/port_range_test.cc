#include "runtime/config/port_range.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(PortRange, ReadsRangesSinglePortsAndNothing) {
  const auto range = parse_port_range("40000-40050");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->low, 40000);
  EXPECT_EQ(range->high, 40050);
  const auto single = parse_port_range("40000");
  ASSERT_TRUE(single.ok());
  EXPECT_EQ(single->low, 40000);
  EXPECT_EQ(single->high, 40000);
  const auto any = parse_port_range("");
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->low, 0);
  EXPECT_EQ(any->high, 0);
}

TEST(PortRange, RefusesEverythingElse) {
  for (const char* text : {"0", "70000", "40050-40000", "40000-", "-40000", "a-b", "40000 - 40050", "1-2-3"}) {
    EXPECT_EQ(parse_port_range(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace isthmus
