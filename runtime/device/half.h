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

inline float float_from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

inline std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fff'ffff) > 0x7f80'0000;
  // Adding just under half of the last kept bit, or exactly half where that bit is odd, rounds to nearest even. The
  // carry runs into the exponent and makes Infinity of what is too large.
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>(is_nan ? kBFloat16NaN : rounded);
}

inline float float_from_fp16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;  // exponent and fraction where fp32 has them
  constexpr std::uint32_t kRebias = (127u - 15u) << 23;
  // Infinity and NaN have all exponent bits in both formats: the bias is added twice.
  const std::uint32_t normal = magnitude + kRebias + (half & 0x7c00u ? 0 : 1u << 23);
  const std::uint32_t special = magnitude >= 0x7c00u << 13 ? kRebias : 0;
  // Subnormal: read as 2^-14 x (1 + fraction), it is 2^-14 too large. The difference is exact.
  const float lead = std::bit_cast<float>(half & 0x7c00u ? 0u : kRebias + (1u << 23));
  const float magnitude_value = std::bit_cast<float>(normal + special) - lead;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude_value) | sign);
}

inline std::uint16_t fp16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  constexpr std::uint32_t kSmallestNormal = (127u - 14u) << 23;  // 2^-14
  constexpr std::uint32_t kTooLarge = (127u + 16u) << 23;        // 2^16: what lies below and rounds up, carries
  constexpr std::uint32_t kRebias = (127u - 15u) << 23;

  // As for bf16, with 13 bits less.
  const std::uint32_t normal = (magnitude - kRebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // The last bit of 0.5 weighs 2^-24, as that of a subnormal half does: the addition rounds to it.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);

  std::uint32_t result = magnitude < kSmallestNormal ? subnormal : normal;
  result = magnitude >= kTooLarge ? 0x7c00 : result;
  result |= sign;
  result = magnitude > 0x7f80'0000 ? kFloat16NaN : result;
  return static_cast<std::uint16_t>(result);
}

}  // namespace isthmus
