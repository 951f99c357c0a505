#include "runtime/device/block_reduce.h"
#include "runtime/device/float_combine.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

template <typename Float>
struct Complex {
  Float real, imaginary;
};

// Written out, and not with std::complex: its product repairs NaN where a factor is infinite, in a way of its own.
struct MultiplyComplex {
  template <typename Float>
  Complex<Float> operator()(Complex<Float> a, Complex<Float> b) const {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

template <typename Float>
struct ComplexFormat {
  using Element = Complex<Float>;

  static Element read(Element element) { return element; }

  template <typename Use>
  static void with_writer(const ReduceTarget& target, std::size_t begin, Use use) {
    auto* to = static_cast<Element*>(target.data) + begin;
    use([to](std::size_t i, Element product) { to[i] = {canonical(product.real), canonical(product.imaginary)}; });
  }
};

}  // namespace

void multiply_complex(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources,
                      std::size_t count) {
  if (type == DataType::kComplex64)
    return reduce_in_blocks<ComplexFormat<float>>(MultiplyComplex(), target, sources, count);
  reduce_in_blocks<ComplexFormat<double>>(MultiplyComplex(), target, sources, count);
}

}  // namespace isthmus
