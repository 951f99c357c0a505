// The operators on fp32 and fp64, without branches. Internal to runtime/device.
//
// Threads: any thread, in the default rounding state.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/base/dtype.h"
#include "runtime/device/half.h"

namespace isthmus {

template <typename Float>
using FloatBits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

template <typename Float>
inline constexpr FloatBits<Float> kCanonicalNaN =
    static_cast<FloatBits<Float>>(sizeof(Float) == 4 ? kFloat32NaN : kFloat64NaN);

template <typename Float>
Float canonical(Float value) {
  return value != value ? std::bit_cast<Float>(kCanonicalNaN<Float>) : value;
}

struct AddFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    return a + b;
  }
};
struct MultiplyFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    return a * b;
  }
};
// A NaN in either makes a NaN, which stays one. Equal numbers have equal bits, but for the zeros: of those the minimum
// is -0 if one of them is, the maximum +0 if one of them is.
struct MinFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    const auto zero = std::bit_cast<Float>(std::bit_cast<FloatBits<Float>>(a) | std::bit_cast<FloatBits<Float>>(b));
    const Float smaller = a < b ? a : b;
    const Float number = a == b ? zero : smaller;
    return a != a || b != b ? std::bit_cast<Float>(kCanonicalNaN<Float>) : number;
  }
};
struct MaxFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    const auto zero = std::bit_cast<Float>(std::bit_cast<FloatBits<Float>>(a) & std::bit_cast<FloatBits<Float>>(b));
    const Float larger = a < b ? b : a;
    const Float number = a == b ? zero : larger;
    return a != a || b != b ? std::bit_cast<Float>(kCanonicalNaN<Float>) : number;
  }
};

// Calls use(combine) with the operator on floating-point numbers; nothing where there is none (check_reducible).
template <typename Use>
void with_float_combine(ReduceOp op, Use use) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPremulSum: return use(AddFloats());
    case ReduceOp::kProduct: return use(MultiplyFloats());
    case ReduceOp::kMin: return use(MinFloats());
    case ReduceOp::kMax: return use(MaxFloats());
    case ReduceOp::kBitAnd:
    case ReduceOp::kBitOr:
    case ReduceOp::kBitXor: return;
  }
}

}  // namespace isthmus
