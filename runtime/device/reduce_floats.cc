#include "runtime/device/block_reduce.h"
#include "runtime/device/float_combine.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

template <typename Float>
struct FloatFormat {
  using Element = Float;

  static Float read(Float element) { return element; }

  template <typename Use>
  static void with_writer(const ReduceTarget& target, std::size_t begin, Use use) {
    auto* to = static_cast<Float*>(target.data) + begin;
    if (target.divisor == 1) return use([to](std::size_t i, Float sum) { to[i] = canonical(sum); });
    const auto divisor = static_cast<Float>(target.divisor);
    use([to, divisor](std::size_t i, Float sum) { to[i] = canonical(sum / divisor); });
  }
};

}  // namespace

void reduce_floats(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t count) {
  with_float_combine(op, [&](auto combine) {
    if (type == DataType::kFloat32) return reduce_in_blocks<FloatFormat<float>>(combine, target, sources, count);
    reduce_in_blocks<FloatFormat<double>>(combine, target, sources, count);
  });
}

}  // namespace isthmus
