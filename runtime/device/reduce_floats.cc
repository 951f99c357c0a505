#include "runtime/device/block_reduce.h"
#include "runtime/device/float_combine.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

template <typename Float>
struct FloatFormat {
  using Accumulator = Float;

  template <typename Use>
  void with_reader(const ReduceSource& source, std::size_t begin, Use use) const {
    const auto* from = static_cast<const Float*>(source.data) + begin;
    use([from](std::size_t i) { return from[i]; });
  }

  template <typename Use>
  void with_writer(const ReduceTarget& target, std::size_t begin, Use use) const {
    auto* to = static_cast<Float*>(target.data) + begin;
    if (target.divisor == 1) {
      use([to](std::size_t i, Float value) { to[i] = canonical(value); });
    } else {
      const auto divisor = static_cast<Float>(target.divisor);
      use([to, divisor](std::size_t i, Float value) { to[i] = canonical(value / divisor); });
    }
  }
};

}  // namespace

void reduce_floats(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t count) {
  with_float_combine(op, [&](auto combine) {
    if (type == DataType::kFloat32) return reduce_in_blocks(FloatFormat<float>(), combine, target, sources, count);
    reduce_in_blocks(FloatFormat<double>(), combine, target, sources, count);
  });
}

}  // namespace isthmus
