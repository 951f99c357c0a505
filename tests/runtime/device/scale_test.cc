#include "runtime/device/scale.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/device/half.h"

namespace isthmus {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Scale, FloatsAreMultipliedInTheirType) {
  const std::vector<float> values = {1.5f, -3.0f, 1e-38f, 3e38f, kInfinity, -0.0f};
  std::vector<float> result(values.size());
  scale(DataType::kFloat32, 0.1, values.data(), result.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(values[i] * 0.1f)) << values[i];
  const double wide = 3.0;
  double product = 0;
  scale(DataType::kFloat64, 0.1, &wide, &product, 1);
  EXPECT_EQ(product, 3.0 * 0.1);  // not of the 0.1 of fp32
}

TEST(Scale, HalvesAreMultipliedInFp32AndRoundedOnce) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    const auto load = type == DataType::kFloat16 ? float_from_fp16 : float_from_bf16;
    const auto store = type == DataType::kFloat16 ? fp16_from_float : bf16_from_float;
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    std::vector<std::uint16_t> result(halves.size());
    scale(type, 1.0 / 3, halves.data(), result.data(), halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i)
      ASSERT_EQ(result[i], store(load(halves[i]) * static_cast<float>(1.0 / 3))) << i;
  }
}

TEST(Scale, InPlaceAndCanonical) {
  float values[] = {std::bit_cast<float>(0xffc1'2345u), kInfinity, 2};
  scale(DataType::kFloat32, 0, values, values, 3);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(values[0]), kFloat32NaN);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(values[1]), kFloat32NaN);
  EXPECT_EQ(values[2], 0);
}

TEST(Scale, BothPartsOfComplexNumbers) {
  const double value[] = {1, -2, 3, 4};
  double result[4];
  scale(DataType::kComplex128, -0.5, value, result, 2);
  EXPECT_EQ(std::vector<double>(result, result + 4), (std::vector<double>{-0.5, 1, -1.5, -2}));
}

TEST(Scale, TheCallersRoundingStateDoesNotMatter) {
  const float value = 1.0f;
  float usual = 0, unusual = 0;
  scale(DataType::kFloat32, 0.1 + 1e-9, &value, &usual, 1);
  std::fesetround(FE_UPWARD);
  scale(DataType::kFloat32, 0.1 + 1e-9, &value, &unusual, 1);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(usual), std::bit_cast<std::uint32_t>(unusual));
}

}  // namespace
}  // namespace isthmus
