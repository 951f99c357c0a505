#include "runtime/device/reduce.h"

#include "runtime/device/reduce_kernels.h"
#include "runtime/device/rounding_state.h"
#include "runtime/device/vector_sum.h"

namespace isthmus {
namespace {

// What no vector kernel has done is done as it is defined.
void reduce_floating(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                     std::size_t count) {
  if (!is_half(type)) return reduce_floats(type, op, target, sources, count);
  const std::size_t done = op == ReduceOp::kSum ? reduce_sum_in_vectors(type, target, sources, count).count : 0;
  if (done < count) reduce_halves(type, op, target, sources, done, count);
}

}  // namespace

void reduce(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
            std::size_t count) {
  if (type == DataType::kBool || is_integer(type)) return reduce_integers(type, op, target, sources, count);
  const DefaultRoundingState rounding_state;
  if (!is_complex(type)) return reduce_floating(type, op, target, sources, count);
  if (op == ReduceOp::kProduct) return multiply_complex(type, target, sources, count);
  const DataType part = type == DataType::kComplex64 ? DataType::kFloat32 : DataType::kFloat64;
  reduce_floating(part, op, target, sources, 2 * count);
}

}  // namespace isthmus
