#include "runtime/device/reduce.h"

#include "runtime/device/reduce_kernels.h"
#include "runtime/device/rounding_state.h"

namespace isthmus {

void reduce(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
            std::size_t count) {
  if (!is_floating(type)) return reduce_integers(type, op, target, sources, count);
  const DefaultRoundingState rounding_state;
  if (is_half(type)) return reduce_halves(type, op, target, sources, count);
  reduce_floats(type, op, target, sources, count);
}

Status check_reducible(DataType type, ReduceOp op) {
  if (type == DataType::kBool && op == ReduceOp::kAvg) {
    return unsupported("{} of {} is not supported; {} reduces with sum, min, max, product", reduce_op_name(op),
                       dtype_name(type), dtype_name(type));
  }
  return Status();
}

}  // namespace isthmus
