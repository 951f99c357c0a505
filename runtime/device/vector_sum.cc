#include "runtime/device/vector_sum.h"

#include <cstdint>

#include "runtime/device/half.h"
#include "runtime/device/power_of_two.h"

// The part up to the last #if HWY_ONCE is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/device/vector_sum.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace isthmus {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // smaller numbers are wider vectors

using FloatTag = hn::ScalableTag<float>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using Floats = hn::Vec<FloatTag>;

HWY_INLINE Floats with_canonical_nan(Floats v) {
  return hn::IfThenElse(hn::IsNaN(v), hn::BitCast(FloatTag(), hn::Set(BitsTag(), kFloat32NaN)), v);
}

struct Float16Codec {
  using Stored = hn::Rebind<hwy::float16_t, FloatTag>;

  static HWY_INLINE Floats load(const std::uint16_t* from) {
    return hn::PromoteTo(FloatTag(), hn::LoadU(Stored(), reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static HWY_INLINE void store(Floats v, std::uint16_t* to) {
    hn::StoreU(hn::DemoteTo(Stored(), v), Stored(), reinterpret_cast<hwy::float16_t*>(to));
  }
};

struct BFloat16Codec {
  using Stored = hn::Rebind<std::uint16_t, FloatTag>;

  static HWY_INLINE Floats load(const std::uint16_t* from) {
    const auto bits = hn::PromoteTo(BitsTag(), hn::LoadU(Stored(), from));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
  // bf16_from_float; a canonical NaN survives the rounding.
  static HWY_INLINE void store(Floats v, std::uint16_t* to) {
    const BitsTag d;
    const auto bits = hn::BitCast(d, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7fffu)), odd));
    hn::StoreU(hn::DemoteTo(Stored(), hn::BitCast(hn::RebindToSigned<BitsTag>(), rounded)), Stored(), to);
  }
};

template <typename Codec>
HWY_INLINE Floats load_half(const VectorSource& source, std::size_t i) {
  const auto value = source.wide ? hn::LoadU(FloatTag(), static_cast<const float*>(source.data) + i)
                                 : Codec::load(static_cast<const std::uint16_t*>(source.data) + i);
  return hn::Mul(value, hn::Set(FloatTag(), source.factor));
}

template <typename Codec, std::size_t kSources>
void sum_halves(const VectorSum& call, std::size_t count) {
  // Copies, which the stores below cannot be thought to change.
  const VectorSum sum = call;
  const FloatTag d;
  const auto divisor = hn::Set(d, static_cast<float>(sum.divisor)), factor = hn::Set(d, sum.factor);
  const bool divides = sum.divisor != 1;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    auto total = load_half<Codec>(sum.sources[0], i);
    for (std::size_t k = 1; k < kSources; ++k) total = hn::Add(total, load_half<Codec>(sum.sources[k], i));
    if (divides) total = hn::Div(total, divisor);
    total = with_canonical_nan(hn::Mul(total, factor));
    if (sum.wide) {
      hn::StoreU(total, d, static_cast<float*>(sum.to) + i);
    } else {
      Codec::store(total, static_cast<std::uint16_t*>(sum.to) + i);
    }
  }
}

template <std::size_t kSources>
void sum_of(const VectorSum& sum, std::size_t count) {
  if (sum.type == DataType::kFloat16) return sum_halves<Float16Codec, kSources>(sum, count);
  sum_halves<BFloat16Codec, kSources>(sum, count);
}

// `count` is a multiple of kVectorElements. Returns the name of the instruction set.
const char* sum_vectors(const VectorSum& sum, std::size_t count) {
  static_assert(kVectorElements % hn::MaxLanes(FloatTag()) == 0);
  switch (sum.source_count) {
    case 1: sum_of<1>(sum, count); break;
    case 2: sum_of<2>(sum, count); break;
    case 3: sum_of<3>(sum, count); break;
    default: sum_of<4>(sum, count);
  }
  return hwy::TargetName(HWY_TARGET);
}

#else

const char* sum_vectors(const VectorSum&, std::size_t) { return nullptr; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace isthmus
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

namespace isthmus {
namespace {

HWY_EXPORT(sum_vectors);

// Partial sums of more than four sources, which stay in the L1 cache.
constexpr std::size_t kBlockCount = 2048;

const void* at(const void* data, std::size_t offset_bytes) {
  return static_cast<const std::byte*>(data) + offset_bytes;
}

// One pass for as many sources as fit, the partial sum before them among these.
class SumOfMany {
 public:
  SumOfMany(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources)
      : type_(type), target_(target), sources_(sources) {}

  VectorDone run(std::size_t count) {
    const bool fits = sources_.size() <= VectorSum().sources.size();
    const std::size_t block_count = fits ? count : kBlockCount;
    VectorDone done;
    for (std::size_t begin = 0; begin < count; begin += block_count) {
      const VectorDone block = sum_block(begin, std::min(block_count, count - begin));
      if (block.target.empty()) return {};
      done = {done.count + block.count, block.target};
    }
    return done;
  }

 private:
  static std::size_t element_bytes(bool wide) { return wide ? sizeof(float) : sizeof(std::uint16_t); }

  VectorDone sum_block(std::size_t begin, std::size_t count) {
    VectorSum sum{.type = type_};
    for (std::size_t taken = 0; taken < sources_.size();) {
      while (taken < sources_.size() && sum.source_count < sum.sources.size()) {
        const ReduceSource& source = sources_[taken++];
        sum.sources[sum.source_count++] = {at(source.data, begin * element_bytes(source.wide)), source.wide,
                                           power_of_two(source.exponent)};
      }
      if (taken == sources_.size()) break;
      sum.to = block_;
      sum.wide = true;
      const VectorDone partial = sum_in_vectors(sum, count);
      if (partial.count == 0) return partial;
      sum.sources[0] = {block_, true, 1};
      sum.source_count = 1;
    }
    sum.to = const_cast<void*>(at(target_.data, begin * element_bytes(target_.wide)));
    sum.wide = target_.wide;
    sum.factor = power_of_two(target_.exponent);
    sum.divisor = target_.divisor;
    return sum_in_vectors(sum, count);
  }

  const DataType type_;
  const ReduceTarget& target_;
  const std::span<const ReduceSource> sources_;
  alignas(64) float block_[kBlockCount];
};

}  // namespace

VectorDone sum_in_vectors(const VectorSum& sum, std::size_t count) {
  const std::size_t whole = count / kVectorElements * kVectorElements;
  if (whole == 0) return {};
  const char* target = HWY_DYNAMIC_DISPATCH(sum_vectors)(sum, whole);
  return target == nullptr ? VectorDone() : VectorDone{whole, target};
}

VectorDone reduce_sum_in_vectors(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources,
                                 std::size_t count) {
  const std::size_t whole = count / kVectorElements * kVectorElements;
  return SumOfMany(type, target, sources).run(whole);
}

std::string_view vector_target() {
  const std::array<std::uint16_t, kVectorElements> zeros{};
  std::array<std::uint16_t, kVectorElements> sum;
  const ReduceSource source{zeros.data()};
  return reduce_sum_in_vectors(DataType::kFloat16, {sum.data()}, {&source, 1}, kVectorElements).target;
}

}  // namespace isthmus

#endif  // HWY_ONCE
