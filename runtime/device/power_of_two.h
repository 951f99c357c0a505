// 2^exponent in fp32. Multiplying by it is exact, or rounds once where the product is subnormal or too large, as ldexp
// does.
//
// Threads: any thread.
#pragma once

#include <bit>
#include <cstdint>

namespace isthmus {

inline float power_of_two(std::int8_t exponent) {
  constexpr int kBias = 127, kFractionBits = 23;
  const int biased = exponent + kBias;
  return biased > 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(biased) << kFractionBits)
                    : std::bit_cast<float>(std::uint32_t{1} << (kFractionBits - 1 + biased));
}

}  // namespace isthmus
