#include <cstdint>
#include <type_traits>

#include "runtime/device/block_reduce.h"
#include "runtime/device/reduce_kernels.h"

namespace isthmus {
namespace {

// What a division is made in. The quotient of floats is cut to the same integer, and there are vector instructions for
// it: an integer above the exact quotient is farther away than the rounding reaches (1/value of it, against 2^-24 of a
// float for 16 bits and 2^-53 of a double for 32).
template <typename Integer>
using Divisible =
    std::conditional_t<sizeof(Integer) <= 2, float, std::conditional_t<sizeof(Integer) == 4, double, std::int64_t>>;

template <typename Integer>
struct IntegerFormat {
  using Element = Integer;

  static Integer read(Integer element) { return element; }

  template <typename Use>
  static void with_writer(const ReduceTarget& target, std::size_t begin, Use use) {
    auto* to = static_cast<Integer*>(target.data) + begin;
    if (target.divisor == 1) return use([to](std::size_t i, Integer sum) { to[i] = sum; });
    const auto divisor = static_cast<Divisible<Integer>>(target.divisor);
    use([to, divisor](std::size_t i, Integer sum) {
      using Quotient = std::conditional_t<sizeof(Integer) <= 4, std::int32_t, std::int64_t>;
      to[i] = static_cast<Integer>(static_cast<Quotient>(static_cast<Divisible<Integer>>(sum) / divisor));
    });
  }
};

// Any byte but 0 is true when it is read; what is written is 0 or 1.
struct BoolFormat {
  using Element = std::uint8_t;

  static std::uint8_t read(std::uint8_t element) { return element != 0; }

  template <typename Use>
  static void with_writer(const ReduceTarget& target, std::size_t begin, Use use) {
    auto* to = static_cast<std::uint8_t*>(target.data) + begin;
    use([to](std::size_t i, std::uint8_t sum) { to[i] = sum; });
  }
};

// Sums and products wrap: they are made of unsigned numbers of at least 32 bits (a product of two uint16 would be an
// int), and cut to the type.
template <typename Integer>
using Wrapping = std::common_type_t<std::make_unsigned_t<Integer>, std::uint32_t>;

struct AddIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return static_cast<Integer>(static_cast<Wrapping<Integer>>(a) + static_cast<Wrapping<Integer>>(b));
  }
};
struct MultiplyIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return static_cast<Integer>(static_cast<Wrapping<Integer>>(a) * static_cast<Wrapping<Integer>>(b));
  }
};
struct MinIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return b < a ? b : a;
  }
};
struct MaxIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return a < b ? b : a;
  }
};

struct AndIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return static_cast<Integer>(a & b);
  }
};
struct OrIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return static_cast<Integer>(a | b);
  }
};
struct XorIntegers {
  template <typename Integer>
  Integer operator()(Integer a, Integer b) const {
    return static_cast<Integer>(a ^ b);
  }
};

template <typename Use>
void with_integer_combine(ReduceOp op, Use use) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPremulSum: return use(AddIntegers());
    case ReduceOp::kProduct: return use(MultiplyIntegers());
    case ReduceOp::kMin: return use(MinIntegers());
    case ReduceOp::kMax: return use(MaxIntegers());
    case ReduceOp::kBitAnd: return use(AndIntegers());
    case ReduceOp::kBitOr: return use(OrIntegers());
    case ReduceOp::kBitXor: return use(XorIntegers());
  }
}

// A sum of bools is OR and a product AND, which on 0 and 1 are the bits' own.
ReduceOp bool_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kMax: return ReduceOp::kBitOr;
    case ReduceOp::kProduct:
    case ReduceOp::kMin: return ReduceOp::kBitAnd;
    default: return op;
  }
}

}  // namespace

void reduce_integers(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                     std::size_t count) {
  with_integer_combine(type == DataType::kBool ? bool_op(op) : op, [&](auto combine) {
    switch (type) {
      case DataType::kBool: return reduce_in_blocks<BoolFormat>(combine, target, sources, count);
      case DataType::kInt8: return reduce_in_blocks<IntegerFormat<std::int8_t>>(combine, target, sources, count);
      case DataType::kUInt8: return reduce_in_blocks<IntegerFormat<std::uint8_t>>(combine, target, sources, count);
      case DataType::kInt16: return reduce_in_blocks<IntegerFormat<std::int16_t>>(combine, target, sources, count);
      case DataType::kInt32: return reduce_in_blocks<IntegerFormat<std::int32_t>>(combine, target, sources, count);
      default: return reduce_in_blocks<IntegerFormat<std::int64_t>>(combine, target, sources, count);
    }
  });
}

}  // namespace isthmus
