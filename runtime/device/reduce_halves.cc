#include "runtime/device/block_reduce.h"
#include "runtime/device/float_combine.h"
#include "runtime/device/half.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

struct Float16 {
  static float load(std::uint16_t half) { return float_from_fp16(half); }
  static std::uint16_t store(float value) { return fp16_from_float(value); }
};
struct BFloat16 {
  static float load(std::uint16_t half) { return float_from_bf16(half); }
  static std::uint16_t store(float value) { return bf16_from_float(value); }
};

// 2^exponent. Multiplying by it is exact, or rounds once where the product is subnormal or too large, as ldexp does.
float power_of_two(int exponent) {
  constexpr int kBias = 127, kFractionBits = 23;
  const int biased = exponent + kBias;
  return biased > 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(biased) << kFractionBits)
                    : std::bit_cast<float>(std::uint32_t{1} << (kFractionBits - 1 + biased));
}

template <typename Half>
struct HalfFormat {
  using Accumulator = float;

  template <typename Use>
  void with_reader(const ReduceSource& source, std::size_t begin, Use use) const {
    const float scale = power_of_two(source.exponent);
    if (source.wide) {
      const auto* from = static_cast<const float*>(source.data) + begin;
      use([from, scale](std::size_t i) { return from[i] * scale; });
    } else {
      const auto* from = static_cast<const std::uint16_t*>(source.data) + begin;
      use([from, scale](std::size_t i) { return Half::load(from[i]) * scale; });
    }
  }

  template <typename Use>
  void with_writer(const ReduceTarget& target, std::size_t begin, Use use) const {
    const float scale = power_of_two(target.exponent);
    const auto divisor = static_cast<float>(target.divisor);
    if (target.wide) {
      auto* to = static_cast<float*>(target.data) + begin;
      use([=](std::size_t i, float value) { to[i] = canonical(value / divisor * scale); });
    } else {
      auto* to = static_cast<std::uint16_t*>(target.data) + begin;
      if (target.divisor == 1) {
        use([=](std::size_t i, float value) { to[i] = Half::store(value * scale); });
      } else {
        use([=](std::size_t i, float value) { to[i] = Half::store(value / divisor * scale); });
      }
    }
  }
};

}  // namespace

void reduce_halves(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t count) {
  with_float_combine(op, [&](auto combine) {
    if (type == DataType::kFloat16) return reduce_in_blocks(HalfFormat<Float16>(), combine, target, sources, count);
    reduce_in_blocks(HalfFormat<BFloat16>(), combine, target, sources, count);
  });
}

}  // namespace isthmus
