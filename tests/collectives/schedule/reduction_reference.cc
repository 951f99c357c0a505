#include "tests/collectives/schedule/reduction_reference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <limits>

#include "collectives/schedule/chunks.h"
#include "runtime/device/half.h"
#include "runtime/device/reduce.h"
#include "runtime/device/scale.h"
#include "tests/support/schedule_executor.h"

namespace isthmus::testing {
namespace {

int log2_up(int count) {
  int exponent = 0;
  while ((1 << exponent) < count) ++exponent;
  return exponent;
}

// One operation over whole buffers. Sums are pairs of a buffer and how it is read.
class Reference {
 public:
  struct Sum {
    const std::byte* data;
    bool wide = false;
    int exponent = 0;
  };

  Reference(const SiteMap& sites, DataType type, ReduceOp op, const std::vector<Buffer>& inputs)
      : sites_(sites), type_(type), op_(combining_op(op)), inputs_(inputs) {
    scales_ = op == ReduceOp::kAvg && is_half(type);
    if (op == ReduceOp::kAvg) divisor_ = static_cast<std::uint32_t>(sites.size());
    total_exponent_ = scales_ ? log2_up(sites.size()) : 0;
  }

  Buffer in_site_order() {
    if (sites_.site_count() == 1) return finish(site_inputs(0, {0, count()}, -total_exponent_), count());
    std::vector<Buffer> kept;
    std::vector<Sum> partials;
    kept.reserve(static_cast<std::size_t>(sites_.site_count()));
    for (int site = 0; site < sites_.site_count(); ++site) {
      const int shift = scales_ ? log2_up(sites_.local_size(site)) : 0;
      std::vector<Sum> inputs = site_inputs(site, {0, count()}, -shift);
      if (inputs.size() > 1) {
        kept.push_back(add(inputs, count(), false));
        inputs = {{kept.back().data()}};
      }
      partials.push_back({inputs[0].data, false, shift - total_exponent_});
    }
    return finish(partials, count());
  }

  // Elements of a block that `owner` owns: from the site after it, once around.
  Buffer in_ring_order(std::span<const int> order, int owner, Range range) {
    std::vector<Buffer> kept;
    kept.reserve(static_cast<std::size_t>(2 * sites_.site_count()));
    Sum sum{};
    const auto seat = static_cast<int>(std::ranges::find(order, owner) - order.begin());
    for (int k = 0; k < sites_.site_count(); ++k) {
      const int site = order[static_cast<std::size_t>((seat + 1 + k) % sites_.site_count())];
      const std::vector<Sum> inputs = site_inputs(site, range, -total_exponent_);
      Sum partial = inputs[0];
      if (inputs.size() > 1) {
        kept.push_back(add(inputs, range.size, is_half(type_)));
        partial = {kept.back().data(), is_half(type_)};
      }
      if (k == 0) {
        sum = partial;
      } else if (k < sites_.site_count() - 1) {
        kept.push_back(add({sum, partial}, range.size, is_half(type_)));
        sum = {kept.back().data(), is_half(type_)};
      } else {
        return finish({sum, partial}, range.size);
      }
    }
    return finish({sum}, range.size);
  }

  // Elements of a tree over the sites in this order: below each node, (left + own) + right.
  Buffer in_tree_order(std::span<const int> order, Range range) {
    std::deque<Buffer> kept;
    return finish(tree_operands(order, range, &kept), range.size);
  }

  std::size_t count() const { return inputs_[0].size() / dtype_size_bytes(type_); }

 private:
  // What the root of the tree over `order` adds: the root splits at the largest power of two that is in the range, so
  // that the part before it is a full tree.
  std::vector<Sum> tree_operands(std::span<const int> order, Range range, std::deque<Buffer>* kept) const {
    std::size_t root = 1;
    while (root * 2 <= order.size()) root *= 2;
    std::vector<Sum> operands;
    if (root > 1) operands.push_back(subtree(order.first(root - 1), range, kept));
    operands.push_back(keep(site_inputs(order[root - 1], range, -total_exponent_), range.size, kept));
    if (root < order.size()) operands.push_back(subtree(order.subspan(root), range, kept));
    return operands;
  }
  Sum subtree(std::span<const int> order, Range range, std::deque<Buffer>* kept) const {
    return keep(tree_operands(order, range, kept), range.size, kept);
  }
  // One operand is passed on as it is.
  Sum keep(const std::vector<Sum>& sums, std::size_t count, std::deque<Buffer>* kept) const {
    if (sums.size() == 1) return sums[0];
    kept->push_back(add(sums, count, is_half(type_)));
    return {kept->back().data(), is_half(type_)};
  }

  std::vector<Sum> site_inputs(int site, Range range, int exponent) const {
    std::vector<Sum> inputs;
    for (const int rank : sites_.ranks_of(site)) {
      const Buffer& input = inputs_[static_cast<std::size_t>(rank)];
      inputs.push_back({input.data() + range.begin * dtype_size_bytes(type_), false, exponent});
    }
    return inputs;
  }

  Buffer reduce_to(const std::vector<Sum>& sums, std::size_t count, bool wide, int exponent,
                   std::uint32_t divisor) const {
    Buffer result(count * (wide ? sizeof(float) : dtype_size_bytes(type_)));
    std::vector<ReduceSource> sources;
    for (const Sum& sum : sums) sources.push_back({sum.data, sum.wide, static_cast<std::int8_t>(sum.exponent)});
    reduce(type_, op_, {result.data(), wide, static_cast<std::int8_t>(exponent), divisor}, sources, count);
    return result;
  }
  Buffer add(const std::vector<Sum>& sums, std::size_t count, bool wide) const {
    return reduce_to(sums, count, wide, 0, 1);
  }
  Buffer finish(const std::vector<Sum>& sums, std::size_t count) const {
    return reduce_to(sums, count, false, total_exponent_, divisor_);
  }

  const SiteMap& sites_;
  const DataType type_;
  const ReduceOp op_;
  const std::vector<Buffer>& inputs_;
  bool scales_ = false;
  int total_exponent_ = 0;
  std::uint32_t divisor_ = 1;
};

template <typename T>
T value_at(const Buffer& buffer, std::size_t index) {
  T value;
  std::memcpy(&value, buffer.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Two's complement, cut to the type after every step.
std::int64_t wrapped(DataType type, std::uint64_t value) {
  switch (type) {
    case DataType::kInt8: return static_cast<std::int8_t>(value);
    case DataType::kUInt8: return static_cast<std::uint8_t>(value);
    case DataType::kInt16: return static_cast<std::int16_t>(value);
    case DataType::kInt32: return static_cast<std::int32_t>(value);
    case DataType::kBool: return value != 0;
    default: return static_cast<std::int64_t>(value);
  }
}

std::int64_t bitwise(ReduceOp op, std::int64_t a, std::int64_t b) {
  if (op == ReduceOp::kBitAnd) return a & b;
  return op == ReduceOp::kBitOr ? a | b : a ^ b;
}

long double exact_integer(DataType type, ReduceOp op, const std::vector<Buffer>& inputs, std::size_t index) {
  std::int64_t result = 0;
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    const auto value = static_cast<std::int64_t>(element_at(type, inputs[rank], index));
    const auto a = static_cast<std::uint64_t>(result), b = static_cast<std::uint64_t>(value);
    if (rank == 0) {
      result = value;
    } else if (op == ReduceOp::kMin || op == ReduceOp::kMax) {
      result = op == ReduceOp::kMin ? std::min(result, value) : std::max(result, value);
    } else if (op != ReduceOp::kSum && op != ReduceOp::kAvg && op != ReduceOp::kProduct) {
      result = bitwise(op, result, value);
    } else {
      result = wrapped(type, op == ReduceOp::kProduct ? a * b : a + b);
    }
  }
  return op == ReduceOp::kAvg ? result / static_cast<std::int64_t>(inputs.size()) : result;
}

// Every rank's input times its factor, in the type.
std::vector<Buffer> products(DataType type, std::vector<Buffer> inputs) {
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    std::byte* data = inputs[rank].data();
    scale(type, ScheduleExecutor::factor_of(rank), data, data, inputs[rank].size() / dtype_size_bytes(type));
  }
  return inputs;
}

// A part of the product of complex numbers.
long double exact_complex_product(DataType type, const std::vector<Buffer>& inputs, std::size_t part) {
  std::complex<long double> product = 1;
  for (const Buffer& input : inputs) {
    const std::size_t real = part / 2 * 2;
    product *= std::complex<long double>(element_at(type, input, real), element_at(type, input, real + 1));
  }
  return part % 2 == 0 ? product.real() : product.imag();
}

}  // namespace

Buffer ordered_allreduce(const SiteMap& sites, DataType type, ReduceOp op, AllreduceAlgorithm algorithm,
                         std::span<const std::uint32_t> owner_weights, const std::vector<Buffer>& inputs,
                         std::vector<int> site_order) {
  if (op == ReduceOp::kPremulSum)
    return ordered_allreduce(sites, type, ReduceOp::kSum, algorithm, owner_weights, products(type, inputs),
                             std::move(site_order));
  Reference reference(sites, type, op, inputs);
  const bool is_tree = algorithm == AllreduceAlgorithm::kTree;
  if (sites.site_count() == 1 || !(is_tree || algorithm == AllreduceAlgorithm::kRing)) return reference.in_site_order();
  std::vector<int> order = std::move(site_order);
  for (int site = static_cast<int>(order.size()); site < sites.site_count(); ++site) order.push_back(site);
  // The second tree is the first of the mirrored order (even) or of the one that begins with the last site (odd).
  std::vector<int> second(order.rbegin(), order.rend());
  if (order.size() % 2 != 0) std::ranges::rotate_copy(order, order.end() - 1, second.begin());

  std::vector<std::uint32_t> weights(owner_weights.begin(), owner_weights.end());
  if (is_tree || weights.empty()) weights.assign(is_tree ? 2 : order.size(), 1);
  Buffer result;
  const auto shards = static_cast<std::size_t>(sites.max_local_size());
  for (std::size_t shard = 0; shard < shards; ++shard) {
    int owner = 0;
    for (const Range& range : split_by_weight(split_evenly({0, reference.count()}, shards, shard), weights)) {
      const Buffer block = is_tree ? reference.in_tree_order(owner == 0 ? order : second, range)
                                   : reference.in_ring_order(order, owner, range);
      ++owner;
      result.insert(result.end(), block.begin(), block.end());
    }
  }
  return result;
}

long double element_at(DataType type, const Buffer& buffer, std::size_t index) {
  switch (type) {
    case DataType::kFloat32: return value_at<float>(buffer, index);
    case DataType::kFloat64: return value_at<double>(buffer, index);
    case DataType::kFloat16: return float_from_fp16(value_at<std::uint16_t>(buffer, index));
    case DataType::kBFloat16: return float_from_bf16(value_at<std::uint16_t>(buffer, index));
    case DataType::kInt8: return value_at<std::int8_t>(buffer, index);
    case DataType::kUInt8: return value_at<std::uint8_t>(buffer, index);
    case DataType::kInt16: return value_at<std::int16_t>(buffer, index);
    case DataType::kInt32: return value_at<std::int32_t>(buffer, index);
    case DataType::kInt64: return static_cast<long double>(value_at<std::int64_t>(buffer, index));
    case DataType::kBool: return value_at<std::uint8_t>(buffer, index);
    case DataType::kComplex64: return value_at<float>(buffer, index);
    case DataType::kComplex128: return value_at<double>(buffer, index);
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2FNUZ: break;  // never reduced
  }
  return 0;
}

long double exact_element(DataType type, ReduceOp op, const std::vector<Buffer>& inputs, std::size_t index) {
  if (is_complex(type) && op == ReduceOp::kProduct) return exact_complex_product(type, inputs, index);
  if (!is_floating(type) && !is_complex(type)) return exact_integer(type, op, inputs, index);
  const auto input_of = [&](std::size_t rank) {
    const long double factor = op == ReduceOp::kPremulSum ? ScheduleExecutor::factor_of(rank) : 1;
    return factor * element_at(type, inputs[rank], index);
  };
  long double result = input_of(0);
  for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
    const long double value = input_of(rank);
    switch (op) {
      case ReduceOp::kPremulSum:
      case ReduceOp::kSum:
      case ReduceOp::kAvg: result += value; break;
      case ReduceOp::kProduct: result *= value; break;
      case ReduceOp::kMin: result = std::min(result, value); break;
      case ReduceOp::kMax: result = std::max(result, value); break;
      default: return std::numeric_limits<long double>::quiet_NaN();  // not for floating-point numbers
    }
  }
  return op == ReduceOp::kAvg ? result / static_cast<long double>(inputs.size()) : result;
}

long double tolerance(DataType type, ReduceOp op, std::size_t ranks) {
  if ((!is_floating(type) && !is_complex(type)) || op == ReduceOp::kMin || op == ReduceOp::kMax) return 0;
  const auto n = static_cast<long double>(ranks);
  // Both parts of a complex number are as large as a float, and a product of two rounds six times.
  const long double factor = is_complex(type) ? 1.7L * std::sqrt(2.0L) : 1.7L;
  const long double product = std::pow(factor, n) * (is_complex(type) ? 6 : 1);
  const bool averages = op == ReduceOp::kAvg;
  // Factors and products of a PREMUL_SUM are rounded, too.
  const long double sum = op == ReduceOp::kPremulSum ? 3 * 1.7L * n : 1.7L * n;
  const long double largest = op == ReduceOp::kProduct ? product : averages ? 1.7L : sum;
  // Half a unit of the last place for each rounding: of each input that is added, and of each tier.
  switch (type) {
    case DataType::kComplex128:
    case DataType::kFloat64: return largest * std::ldexp(n + 1, -53);
    case DataType::kComplex64:
    case DataType::kFloat32: return largest * std::ldexp(n + 1, -24);
    case DataType::kFloat16: return largest * std::ldexp(n + 1, -11);
    default: return largest * std::ldexp(n + 1, -8);
  }
}

}  // namespace isthmus::testing
