#include <algorithm>
#include <cstring>

#include "runtime/device/float_combine.h"
#include "runtime/device/half.h"
#include "runtime/device/power_of_two.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

// Two blocks of fp32 stay in the L1 cache: the sum, and the source that is being added, as it was converted.
constexpr std::size_t kBlockCount = 1024;

struct Float16 {
  static float load(std::uint16_t half) { return float_from_fp16(half); }
  static std::uint16_t store(float value) { return fp16_from_float(value); }
};
struct BFloat16 {
  static float load(std::uint16_t half) { return float_from_bf16(half); }
  static std::uint16_t store(float value) { return bf16_from_float(value); }
};

template <typename Half>
void load_block(const ReduceSource& source, std::size_t begin, std::size_t n, float* __restrict to) {
  const float scale = power_of_two(source.exponent);
  if (source.wide) {
    const auto* from = static_cast<const float*>(source.data) + begin;
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i] * scale;
  } else {
    const auto* from = static_cast<const std::uint16_t*>(source.data) + begin;
    for (std::size_t i = 0; i < n; ++i) to[i] = Half::load(from[i]) * scale;
  }
}

// Divides and scales in place, then stores. The division by 1 is left out, which changes nothing but the time.
template <typename Half>
void store_block(float* __restrict sum, std::size_t n, const ReduceTarget& target, std::size_t begin) {
  if (target.divisor != 1) {
    const auto divisor = static_cast<float>(target.divisor);
    for (std::size_t i = 0; i < n; ++i) sum[i] = sum[i] / divisor;
  }
  const float scale = power_of_two(target.exponent);
  if (target.wide) {
    auto* to = static_cast<float*>(target.data) + begin;
    for (std::size_t i = 0; i < n; ++i) to[i] = canonical(sum[i] * scale);
  } else {
    auto* to = static_cast<std::uint16_t*>(target.data) + begin;
    for (std::size_t i = 0; i < n; ++i) to[i] = Half::store(sum[i] * scale);
  }
}

template <typename Combine>
void combine_blocks(Combine combine, float* __restrict sum, const float* __restrict addend, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] = combine(sum[i], addend[i]);
}

template <typename Half, typename Combine>
void reduce_in_fp32(Combine combine, const ReduceTarget& target, std::span<const ReduceSource> sources,
                    std::size_t first, std::size_t count) {
  alignas(64) float sum[kBlockCount];
  alignas(64) float addend[kBlockCount];
  for (std::size_t begin = first; begin < count; begin += kBlockCount) {
    const std::size_t n = std::min(kBlockCount, count - begin);
    load_block<Half>(sources.front(), begin, n, sum);
    for (const ReduceSource& source : sources.subspan(1)) {
      load_block<Half>(source, begin, n, addend);
      combine_blocks(combine, sum, addend, n);
    }
    store_block<Half>(sum, n, target, begin);
  }
}

}  // namespace

void reduce_halves(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t first, std::size_t count) {
  with_float_combine(op, [&](auto combine) {
    if (type == DataType::kFloat16) return reduce_in_fp32<Float16>(combine, target, sources, first, count);
    reduce_in_fp32<BFloat16>(combine, target, sources, first, count);
  });
}

}  // namespace isthmus
