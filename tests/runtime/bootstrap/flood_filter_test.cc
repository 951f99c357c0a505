#include "runtime/bootstrap/flood_filter.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(FloodFilterTest, EachMessageIsNewOnce) {
  FloodFilter filter;
  EXPECT_TRUE(filter.is_new(1, 1));
  EXPECT_FALSE(filter.is_new(1, 1));
  EXPECT_TRUE(filter.is_new(1, 2));
  EXPECT_TRUE(filter.is_new(2, 1));
  EXPECT_FALSE(filter.is_new(1, 2));
}

TEST(FloodFilterTest, MemoryIsBoundedAndTheNewestStay) {
  FloodFilter filter;
  for (std::uint64_t i = 0; i < 3 * FloodFilter::kRemembered; ++i) ASSERT_TRUE(filter.is_new(i % 7, i));
  EXPECT_EQ(filter.size(), FloodFilter::kRemembered);
  for (std::uint64_t i = 2 * FloodFilter::kRemembered; i < 3 * FloodFilter::kRemembered; ++i)
    ASSERT_FALSE(filter.is_new(i % 7, i));
}

}  // namespace
}  // namespace isthmus
