#include "runtime/device/rounding_state.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

namespace isthmus {
namespace {

// Not folded by the compiler, which calculates in the default state.
float divide(float a, float b) {
  volatile float x = a, y = b;
  return x / y;
}

TEST(DefaultRoundingState, RoundsToNearestInsideAndAsBeforeOutside) {
  const float nearest = divide(1, 3);
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const float above = divide(2, 3);
  float inside = 0;
  {
    const DefaultRoundingState state;
    inside = divide(1, 3);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  EXPECT_EQ(divide(2, 3), above);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(inside, nearest);
}

TEST(DefaultRoundingState, PutsTheExceptionFlagsBack) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const DefaultRoundingState state;
    EXPECT_EQ(divide(1, 0), std::numeric_limits<float>::infinity());
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
  }
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
  std::feraiseexcept(FE_INVALID);
  {
    const DefaultRoundingState state;
  }
  EXPECT_NE(std::fetestexcept(FE_INVALID), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
}  // namespace isthmus
