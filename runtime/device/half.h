// fp16 and bf16 to fp32 and back, to nearest even, with a canonical NaN. Written without branches, so that loops over
// them become vector code; the same bytes come from every instruction set.
//
// Threads: any thread. The conversions of fp16 calculate, and need the default rounding state (rounding_state.h).
#pragma once

#include <bit>
#include <cstdint>

namespace isthmus {

inline constexpr std::uint16_t kFloat16NaN = 0x7e00;
inline constexpr std::uint16_t kBFloat16NaN = 0x7fc0;
inline constexpr std::uint32_t kFloat32NaN = 0x7fc0'0000;
inline constexpr std::uint64_t kFloat64NaN = 0x7ff8'0000'0000'0000;

// Numbers below are signed, since that is what vector units compare; sign bits are kept apart.

inline float float_from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

inline std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Adding just under half of the last kept bit, or exactly half where that bit is odd, rounds to nearest even. The
  // carry runs into the exponent and makes Infinity of what is too large.
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>(value != value ? kBFloat16NaN : rounded);
}

inline float float_from_fp16(std::uint16_t half) {
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  const std::int32_t magnitude = (half & 0x7fff) << 13;  // exponent and fraction where fp32 has them
  // Infinity and NaN have all exponent bits in both formats: the bias is added twice.
  const std::int32_t special = magnitude > 0x0f7f'ffff ? kRebias : 0;
  // A subnormal is read as 2^-14 x (1 + fraction), which is 2^-14 too large; the difference is exact.
  const bool is_subnormal = magnitude < 0x0080'0000;
  const std::int32_t lead_bit = is_subnormal ? 0x0080'0000 : 0;
  const std::int32_t lead = is_subnormal ? kRebias + 0x0080'0000 : 0;
  const float number = std::bit_cast<float>(magnitude + kRebias + special + lead_bit) - std::bit_cast<float>(lead);
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(number) | (half & 0x8000) << 16);
}

inline std::uint16_t fp16_from_float(float value) {
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  constexpr std::int32_t kSmallestNormal = (127 - 14) << 23;  // 2^-14
  constexpr std::int32_t kInfinity = 0x7c00;
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t magnitude = bits & 0x7fff'ffff;

  // As for bf16, with 13 bits less. What is too large goes beyond Infinity, and is brought back to it.
  const std::int32_t rounded = (magnitude - kRebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::int32_t normal = rounded > kInfinity ? kInfinity : rounded;
  // The last bit of 0.5 weighs 2^-24, as that of a subnormal half does: the addition rounds to it.
  const std::int32_t subnormal = std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f00'0000;
  const std::int32_t number = magnitude < kSmallestNormal ? subnormal : normal;
  const std::int32_t with_sign = number | (bits >> 16 & 0x8000);
  return static_cast<std::uint16_t>(value != value ? kFloat16NaN : with_sign);
}

}  // namespace isthmus
