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
inline constexpr FloatBits<Float> kCanonicalNaN = static_cast<FloatBits<Float>>(sizeof(Float) == 4 ? kFloat32NaN : kFloat64NaN);

template <typename Float>
inline constexpr FloatBits<Float> kMagnitudeBits = static_cast<FloatBits<Float>>(-1) >> 1;

template <typename Float>
Float canonical(Float value) {
  return value != value ? std::bit_cast<Float>(kCanonicalNaN<Float>) : value;
}

// Integers in the order of the numbers that they stand for, -0 below +0: negative ones have their other bits inverted.
template <typename Float>
auto order_key(Float value) {
  using Signed = std::make_signed_t<FloatBits<Float>>;
  const auto bits = std::bit_cast<Signed>(value);
  return bits ^ ((bits >> (sizeof(Float) * 8 - 1)) & static_cast<Signed>(kMagnitudeBits<Float>));
}

struct AddFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const { return a + b; }
};
struct MultiplyFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const { return a * b; }
};
// A NaN in either makes a NaN, which stays one.
struct MinFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    const Float smaller = order_key(b) < order_key(a) ? b : a;
    return a != a || b != b ? std::bit_cast<Float>(kCanonicalNaN<Float>) : smaller;
  }
};
struct MaxFloats {
  template <typename Float>
  Float operator()(Float a, Float b) const {
    const Float larger = order_key(a) < order_key(b) ? b : a;
    return a != a || b != b ? std::bit_cast<Float>(kCanonicalNaN<Float>) : larger;
  }
};

// Calls use(combine) with the operator on floating-point numbers.
template <typename Use>
void with_float_combine(ReduceOp op, Use use) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg: return use(AddFloats());
    case ReduceOp::kProduct: return use(MultiplyFloats());
    case ReduceOp::kMin: return use(MinFloats());
    case ReduceOp::kMax: return use(MaxFloats());
  }
}

}  // namespace isthmus
