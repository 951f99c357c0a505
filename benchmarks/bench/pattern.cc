#include "benchmarks/bench/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/device/half.h"

namespace isthmus::bench {
namespace {

// Every integer from 0 to this has an encoding of its own in the type, with its sign bit clear.
std::int64_t largest_exact(DataType type) {
  switch (type) {
    case DataType::kComplex128:
    case DataType::kFloat64:
    case DataType::kInt64: return std::int64_t{1} << 53;
    case DataType::kComplex64:
    case DataType::kFloat32: return std::int64_t{1} << 24;
    case DataType::kInt32: return 0x7fff'ffff;
    case DataType::kInt16: return 0x7fff;
    case DataType::kFloat16: return 2048;
    case DataType::kBFloat16: return 256;
    case DataType::kFloat8E4M3FN:  // moved, so any byte without its sign bit will do
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2FNUZ:
    case DataType::kUInt8:
    case DataType::kInt8: return 127;
    case DataType::kBool: return 1;
  }
  return 0;
}

template <typename T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

void encode(DataType type, std::int64_t value, std::byte* to) {
  switch (type) {
    case DataType::kFloat32: return put(static_cast<float>(value), to);
    case DataType::kFloat64: return put(static_cast<double>(value), to);
    case DataType::kFloat16: return put(fp16_from_float(static_cast<float>(value)), to);
    case DataType::kBFloat16: return put(bf16_from_float(static_cast<float>(value)), to);
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2FNUZ:
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kBool: return put(static_cast<std::uint8_t>(value), to);
    case DataType::kComplex64: return put(std::array{static_cast<float>(value), 0.0f}, to);
    case DataType::kComplex128: return put(std::array{static_cast<double>(value), 0.0}, to);
    case DataType::kInt16: return put(static_cast<std::int16_t>(value), to);
    case DataType::kInt32: return put(static_cast<std::int32_t>(value), to);
    case DataType::kInt64: return put(value, to);
  }
}

// splitmix64's mixing function (Steele, Lea, Flood 2014): neighbouring inputs, unrelated outputs.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

template <typename ValueOf>
std::vector<std::byte> encode_period(DataType type, std::uint64_t seed, ValueOf value_of) {
  const std::size_t element_bytes = dtype_size_bytes(type);
  std::vector<std::byte> period(Pattern::kPeriod * element_bytes);
  const std::uint64_t start = mix(seed);
  for (std::size_t i = 0; i < Pattern::kPeriod; ++i)
    encode(type, value_of(mix(start + i)), period.data() + i * element_bytes);
  return period;
}

// Calls `run(offset in the buffer, offset in the period, bytes)` for each piece of a buffer that starts at element
// `first`.
template <typename Run>
void for_each_piece(std::size_t buffer_bytes, std::size_t element_bytes, std::size_t first, Run run) {
  const std::size_t period_bytes = Pattern::kPeriod * element_bytes;
  std::size_t from = first % Pattern::kPeriod * element_bytes;
  for (std::size_t done = 0; done < buffer_bytes;) {
    const std::size_t bytes = std::min(buffer_bytes - done, period_bytes - from);
    run(done, from, bytes);
    done += bytes;
    from = 0;
  }
}

}  // namespace

Result<Pattern> Pattern::create(DataType type, ReduceOp op, int ranks) {
  constexpr std::int64_t kMaxValues = 1024;
  const std::int64_t limit = largest_exact(type) / (op == ReduceOp::kPremulSum ? 2 : 1);  // the largest factor
  if (type == DataType::kBool) return Pattern(type, op, ranks, 2);
  if (ranks > limit)
    return unsupported("{} cannot hold the exact sum of {} ranks, so results cannot be checked: choose a wider type",
                       dtype_name(type), ranks);
  return Pattern(type, op, ranks, std::min(limit / ranks + 1, kMaxValues));
}

// Sums: any addends. Averages: one mean, with deviations that cancel. Products: 2 from at most one rank, so that 1 and
// 2 occur. Bool: OR (sum, max, bor) and XOR of at most one true, AND (min, product, band) of at most one false.
std::int64_t Pattern::value(int rank, std::uint64_t noise) const {
  const bool is_marked = noise % 2 == 1 && rank == static_cast<int>(noise / 2 % static_cast<std::uint64_t>(ranks_));
  const bool is_and = op_ == ReduceOp::kMin || op_ == ReduceOp::kProduct || op_ == ReduceOp::kBitAnd;
  if (type_ == DataType::kBool) return is_marked != is_and ? 1 : 0;
  if (op_ == ReduceOp::kProduct) return is_marked ? 2 : 1;
  const auto values = static_cast<std::uint64_t>(values_);
  if (op_ != ReduceOp::kAvg) return static_cast<std::int64_t>((noise + 7 * static_cast<std::uint64_t>(rank)) % values);
  const auto mean = static_cast<std::int64_t>(noise % std::max<std::uint64_t>(1, values - 2) + 1);
  if (values < 3 || (rank == ranks_ - 1 && ranks_ % 2 == 1)) return mean;
  return rank % 2 == 0 ? mean + 1 : mean - 1;
}

std::int64_t Pattern::reduced_value(std::uint64_t noise) const {
  std::int64_t sum = 0, scaled_sum = 0, product = 1, low = value(0, noise), high = low;
  std::int64_t all_bits = low, any_bit = 0, odd_bits = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::int64_t one = value(rank, noise);
    all_bits &= one;
    any_bit |= one;
    odd_bits ^= one;
    sum += one;
    scaled_sum += one * static_cast<std::int64_t>(factor(rank));
    product *= one;
    low = std::min(low, one);
    high = std::max(high, one);
  }
  switch (op_) {
    case ReduceOp::kSum: return type_ == DataType::kBool ? high : sum;
    case ReduceOp::kAvg: return sum / ranks_;
    case ReduceOp::kMin: return low;
    case ReduceOp::kMax: return high;
    case ReduceOp::kProduct: return product;
    case ReduceOp::kBitAnd: return all_bits;
    case ReduceOp::kBitOr: return any_bit;
    case ReduceOp::kBitXor: return odd_bits;
    case ReduceOp::kPremulSum: return scaled_sum;
  }
  return 0;
}

std::vector<std::byte> Pattern::of_rank(int rank, std::uint64_t seed) const {
  return encode_period(type_, seed, [&](std::uint64_t noise) { return value(rank, noise); });
}

std::vector<std::byte> Pattern::reduced(std::uint64_t seed) const {
  return encode_period(type_, seed, [&](std::uint64_t noise) { return reduced_value(noise); });
}

void Pattern::fill(MutableBytes buffer, const std::vector<std::byte>& period, std::size_t first) const {
  for_each_piece(buffer.size(), dtype_size_bytes(type_), first,
                 [&](std::size_t to, std::size_t from, std::size_t bytes) {
                   std::memcpy(buffer.data() + to, period.data() + from, bytes);
                 });
}

std::uint64_t Pattern::count_wrong(ConstBytes buffer, const std::vector<std::byte>& period, std::size_t first) const {
  std::uint64_t wrong = 0;
  const std::size_t element_bytes = dtype_size_bytes(type_);
  for_each_piece(buffer.size(), element_bytes, first, [&](std::size_t at, std::size_t from, std::size_t bytes) {
    if (std::memcmp(buffer.data() + at, period.data() + from, bytes) == 0) return;
    for (std::size_t i = 0; i < bytes; i += element_bytes)
      wrong += std::memcmp(buffer.data() + at + i, period.data() + from + i, element_bytes) != 0 ? 1 : 0;
  });
  return wrong;
}

}  // namespace isthmus::bench
