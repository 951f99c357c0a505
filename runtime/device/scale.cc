#include "runtime/device/scale.h"

#include "runtime/device/block_reduce.h"
#include "runtime/device/float_combine.h"
#include "runtime/device/half.h"
#include "runtime/device/rounding_state.h"
#include "runtime/device/vector_sum.h"

namespace isthmus {
namespace {

template <typename Float>
void scale_floats(double factor, const void* from, void* to, std::size_t count) {
  const auto* in = static_cast<const Float*>(from);
  auto* out = static_cast<Float*>(to);
  const auto by = static_cast<Float>(factor);
  ISTHMUS_VECTORIZE
  for (std::size_t i = 0; i < count; ++i) out[i] = canonical(in[i] * by);
}

template <float (*load)(std::uint16_t), std::uint16_t (*store)(float)>
void scale_halves(double factor, const void* from, void* to, std::size_t first, std::size_t count) {
  const auto* in = static_cast<const std::uint16_t*>(from);
  auto* out = static_cast<std::uint16_t*>(to);
  const auto by = static_cast<float>(factor);
  ISTHMUS_VECTORIZE
  for (std::size_t i = first; i < count; ++i) out[i] = store(load(in[i]) * by);
}

// A product is a sum of one. What no vector kernel has done is done as it is defined.
void scale_halves(DataType type, double factor, const void* from, void* to, std::size_t count) {
  VectorSum product{.type = type, .source_count = 1, .to = to};
  product.sources[0] = {from, false, static_cast<float>(factor)};
  const std::size_t done = sum_in_vectors(product, count).count;
  if (type == DataType::kFloat16) return scale_halves<float_from_fp16, fp16_from_float>(factor, from, to, done, count);
  scale_halves<float_from_bf16, bf16_from_float>(factor, from, to, done, count);
}

}  // namespace

void scale(DataType type, double factor, const void* from, void* to, std::size_t count) {
  const DefaultRoundingState rounding_state;
  switch (type) {
    case DataType::kFloat32: return scale_floats<float>(factor, from, to, count);
    case DataType::kFloat64: return scale_floats<double>(factor, from, to, count);
    case DataType::kComplex64: return scale_floats<float>(factor, from, to, 2 * count);
    case DataType::kComplex128: return scale_floats<double>(factor, from, to, 2 * count);
    case DataType::kFloat16:
    case DataType::kBFloat16: return scale_halves(type, factor, from, to, count);
    default: return;
  }
}

}  // namespace isthmus
