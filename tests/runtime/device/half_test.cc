#include "runtime/device/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace isthmus {
namespace {

// The meaning of a half, spelled out: sign, exponent, fraction.
double value_of(std::uint16_t half, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = half >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = half & ((1 << fraction_bits) - 1);
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  const int lead = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(lead + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

// Nearest even by search among all halves of one sign, which are ordered as their bits are.
class NearestHalf {
 public:
  NearestHalf(int exponent_bits, int fraction_bits) : infinity_(((1 << exponent_bits) - 1) << fraction_bits) {
    for (int half = 0; half <= infinity_; ++half) {
      values_.push_back(value_of(static_cast<std::uint16_t>(half), exponent_bits, fraction_bits));
    }
    // For rounding, infinity stands where the next number would.
    values_[static_cast<std::size_t>(infinity_)] =
        2 * values_[static_cast<std::size_t>(infinity_) - 1] - values_[static_cast<std::size_t>(infinity_) - 2];
  }

  std::uint16_t of(float value, std::uint16_t nan) const {
    if (std::isnan(value)) return nan;
    const double magnitude = std::abs(static_cast<double>(value));
    const auto above = std::ranges::lower_bound(values_, magnitude);
    std::size_t index = static_cast<std::size_t>(above - values_.begin());
    if (above == values_.end()) {
      index = static_cast<std::size_t>(infinity_);
    } else if (*above != magnitude) {
      const double up = *above - magnitude, down = magnitude - values_[index - 1];
      if (down < up || (down == up && (index - 1) % 2 == 0)) --index;
    }
    return static_cast<std::uint16_t>(index | (std::signbit(value) ? 0x8000 : 0));
  }

 private:
  int infinity_;
  std::vector<double> values_;
};

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

template <typename Check>
void for_interesting_floats(Check check) {
  // Every pattern of the upper 16 bits, with fractions that lie at, below and above the points between two halves.
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u,
                                    0x8001u, 0xefffu, 0xf000u, 0xffffu}) {
      check(std::bit_cast<float>(high << 16 | low));
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

TEST(Half, EveryFp16IsReadExactly) {
  for (int half = 0; half < 0x10000; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    const double expected = value_of(bits, 5, 10);
    const float value = float_from_fp16(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << half;
    } else {
      ASSERT_EQ(value, expected) << half;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << half;
    }
  }
}

TEST(Half, EveryBf16IsReadExactly) {
  for (int half = 0; half < 0x10000; ++half) {
    const double expected = value_of(static_cast<std::uint16_t>(half), 8, 7);
    const float value = float_from_bf16(static_cast<std::uint16_t>(half));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << half;
    } else {
      ASSERT_EQ(value, expected) << half;
    }
  }
}

TEST(Half, Fp16IsRoundedToNearestEven) {
  const NearestHalf nearest(5, 10);
  for_interesting_floats([&](float value) {
    ASSERT_EQ(fp16_from_float(value), nearest.of(value, kFloat16NaN)) << std::hex << bits_of(value);
  });
}

TEST(Half, Bf16IsRoundedToNearestEven) {
  const NearestHalf nearest(8, 7);
  for_interesting_floats([&](float value) {
    ASSERT_EQ(bf16_from_float(value), nearest.of(value, kBFloat16NaN)) << std::hex << bits_of(value);
  });
}

TEST(Half, EveryNumberSurvivesTheWayThroughFp32) {
  for (int half = 0; half < 0x10000; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    if (!std::isnan(float_from_fp16(bits))) {
      ASSERT_EQ(fp16_from_float(float_from_fp16(bits)), bits);
    }
    if (!std::isnan(float_from_bf16(bits))) {
      ASSERT_EQ(bf16_from_float(float_from_bf16(bits)), bits);
    }
  }
}

}  // namespace
}  // namespace isthmus
