#include "runtime/device/reduce.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/device/half.h"
#include "runtime/device/reducible.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// The contract of reduce.h, written once more as one element at a time with the library's own functions.
namespace isthmus {
namespace {

// What reduce() is called with for a type: an average is a sum whose target has a divisor.
std::vector<ReduceOp> ops_of(DataType type) {
  std::vector<ReduceOp> ops;
  for (int i = 0; i < kReduceOpCount; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    if (op == combining_op(op) && is_reducible(type, op)) ops.push_back(op);
  }
  return ops;
}

template <typename T>
T load(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void store(std::byte* data, std::size_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

template <typename Float>
Float combine_floats(ReduceOp op, Float a, Float b) {
  if (op == ReduceOp::kSum) return a + b;
  if (op == ReduceOp::kProduct) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Float>::quiet_NaN();
  const bool a_is_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_is_less == (op == ReduceOp::kMin) ? a : b;
}

std::int64_t wrapped(DataType type, std::uint64_t value) {
  switch (type) {
    case DataType::kInt8: return static_cast<std::int8_t>(value);
    case DataType::kUInt8: return static_cast<std::uint8_t>(value);
    case DataType::kInt16: return static_cast<std::int16_t>(value);
    case DataType::kInt32: return static_cast<std::int32_t>(value);
    default: return static_cast<std::int64_t>(value);
  }
}

std::int64_t combine_integers(DataType type, ReduceOp op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::kMin: return std::min(a, b);
    case ReduceOp::kMax: return std::max(a, b);
    case ReduceOp::kBitAnd: return a & b;
    case ReduceOp::kBitOr: return a | b;
    case ReduceOp::kBitXor: return a ^ b;
    case ReduceOp::kProduct: return type == DataType::kBool ? a & b : wrapped(type, x * y);
    default: return type == DataType::kBool ? a | b : wrapped(type, x + y);
  }
}

std::int64_t load_integer(DataType type, const std::byte* data, std::size_t i) {
  switch (type) {
    case DataType::kInt8: return load<std::int8_t>(data, i);
    case DataType::kUInt8: return load<std::uint8_t>(data, i);
    case DataType::kInt16: return load<std::int16_t>(data, i);
    case DataType::kInt32: return load<std::int32_t>(data, i);
    case DataType::kBool: return load<std::uint8_t>(data, i) != 0;
    default: return load<std::int64_t>(data, i);
  }
}

float load_half(DataType type, const ReduceSource& source, std::size_t i) {
  const auto* data = static_cast<const std::byte*>(source.data);
  const float value = source.wide                  ? load<float>(data, i)
                      : type == DataType::kFloat16 ? float_from_fp16(load<std::uint16_t>(data, i))
                                                   : float_from_bf16(load<std::uint16_t>(data, i));
  return std::ldexp(value, source.exponent);
}

template <typename Float>
Float canonical_nan(Float value) {
  if (!std::isnan(value)) return value;
  if constexpr (sizeof(Float) == 4)
    return std::bit_cast<float>(kFloat32NaN);
  else
    return std::bit_cast<double>(kFloat64NaN);
}

void reference_half(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                    std::size_t i) {
  float sum = load_half(type, sources[0], i);
  for (const ReduceSource& source : sources.subspan(1)) sum = combine_floats(op, sum, load_half(type, source, i));
  sum = std::ldexp(sum / static_cast<float>(target.divisor), target.exponent);
  auto* data = static_cast<std::byte*>(target.data);
  if (target.wide) return store(data, i, canonical_nan(sum));
  store(data, i, type == DataType::kFloat16 ? fp16_from_float(sum) : bf16_from_float(sum));
}

template <typename Float>
void reference_float(ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources, std::size_t i) {
  Float sum = load<Float>(static_cast<const std::byte*>(sources[0].data), i);
  for (const ReduceSource& source : sources.subspan(1)) {
    sum = combine_floats(op, sum, load<Float>(static_cast<const std::byte*>(source.data), i));
  }
  store(static_cast<std::byte*>(target.data), i, canonical_nan(sum / static_cast<Float>(target.divisor)));
}

template <typename Float>
void reference_complex(ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources, std::size_t i) {
  const auto part = [&](std::size_t k, std::size_t which) {
    return load<Float>(static_cast<const std::byte*>(sources[k].data), 2 * i + which);
  };
  Float real = part(0, 0), imaginary = part(0, 1);
  for (std::size_t k = 1; k < sources.size(); ++k) {
    const Float c = part(k, 0), d = part(k, 1), ac = real * c, bd = imaginary * d, ad = real * d, bc = imaginary * c;
    const bool is_sum = op == ReduceOp::kSum;
    const Float re = is_sum ? real + c : ac - bd, im = is_sum ? imaginary + d : ad + bc;
    real = re;
    imaginary = im;
  }
  auto* data = static_cast<std::byte*>(target.data);
  store(data, 2 * i, canonical_nan(real / static_cast<Float>(target.divisor)));
  store(data, 2 * i + 1, canonical_nan(imaginary / static_cast<Float>(target.divisor)));
}

void reference_integer(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                       std::size_t i) {
  std::int64_t sum = load_integer(type, static_cast<const std::byte*>(sources[0].data), i);
  for (const ReduceSource& source : sources.subspan(1)) {
    sum = combine_integers(type, op, sum, load_integer(type, static_cast<const std::byte*>(source.data), i));
  }
  if (type != DataType::kBool) sum /= static_cast<std::int64_t>(target.divisor);
  auto* data = static_cast<std::byte*>(target.data);
  std::memcpy(data + i * dtype_size_bytes(type), &sum, dtype_size_bytes(type));
}

void reference(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_half(type))
      reference_half(type, op, target, sources, i);
    else if (type == DataType::kFloat32)
      reference_float<float>(op, target, sources, i);
    else if (type == DataType::kFloat64)
      reference_float<double>(op, target, sources, i);
    else if (type == DataType::kComplex64)
      reference_complex<float>(op, target, sources, i);
    else if (type == DataType::kComplex128)
      reference_complex<double>(op, target, sources, i);
    else
      reference_integer(type, op, target, sources, i);
  }
}

// Half of the values are ordinary, the others any bits: NaN, infinities, zeros, subnormals.
std::vector<std::byte> random_buffer(DataType type, bool wide, std::size_t count, std::mt19937_64& random) {
  if (type == DataType::kComplex64) return random_buffer(DataType::kFloat32, false, 2 * count, random);
  if (type == DataType::kComplex128) return random_buffer(DataType::kFloat64, false, 2 * count, random);
  const std::size_t size = wide ? sizeof(float) : dtype_size_bytes(type);
  std::vector<std::byte> buffer(count * size);
  for (std::byte& byte : buffer) byte = static_cast<std::byte>(random());
  const DataType stored = wide ? DataType::kFloat32 : type;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 512.0f;
    std::byte* to = buffer.data();
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (stored == DataType::kFloat32) store(to, i, value);
        if (stored == DataType::kFloat64) store(to, i, static_cast<double>(value));
        if (stored == DataType::kFloat16) store(to, i, fp16_from_float(value));
        if (stored == DataType::kBFloat16) store(to, i, bf16_from_float(value));
        break;
      case 4: std::fill_n(to + i * size, size, std::byte{0}); break;
      case 5:
        std::fill_n(to + i * size, size, std::byte{0});
        to[(i + 1) * size - 1] = std::byte{0x80};  // -0, or the least integer
        break;
      default: break;
    }
  }
  return buffer;
}

struct Case {
  DataType type;
  ReduceOp op;
  std::size_t sources;
  std::size_t count;
  std::uint32_t divisor = 1;
  bool exponents = false, wide_sources = false, wide_target = false;
  int alias = -1;  // the target is this source
};

void expect_equal_to_reference(const Case& c, std::mt19937_64& random) {
  SCOPED_TRACE(fmt::format("{} {} of {} x{} divisor {} {}{}{} alias {}", dtype_name(c.type), reduce_op_name(c.op),
                           c.sources, c.count, c.divisor, c.exponents ? "scaled " : "",
                           c.wide_sources ? "wide sources " : "", c.wide_target ? "wide target" : "", c.alias));
  std::vector<std::vector<std::byte>> data;
  std::vector<ReduceSource> sources;
  for (std::size_t k = 0; k < c.sources; ++k) {
    const bool wide = c.wide_sources && k % 2 == 0;
    data.push_back(random_buffer(c.type, wide, c.count, random));
    sources.push_back(
        {data.back().data(), wide, static_cast<std::int8_t>(c.exponents ? static_cast<int>(random() % 9) - 6 : 0)});
  }
  std::vector<std::byte> expected(c.count * (c.wide_target ? sizeof(float) : dtype_size_bytes(c.type)));
  std::vector<std::byte> actual(expected.size());
  ReduceTarget target{expected.data(), c.wide_target, static_cast<std::int8_t>(c.exponents ? 3 : 0), c.divisor};
  reference(c.type, c.op, target, sources, c.count);
  target.data = c.alias >= 0 ? data[static_cast<std::size_t>(c.alias)].data() : actual.data();
  reduce(c.type, c.op, target, sources, c.count);
  if (c.alias >= 0) actual = data[static_cast<std::size_t>(c.alias)];
  ASSERT_EQ(actual, expected);
}

class ReduceTypes : public ::testing::TestWithParam<int> {
 protected:
  const DataType type_ = static_cast<DataType>(GetParam());
  std::mt19937_64 random_{static_cast<std::uint64_t>(GetParam())};
};

// More sources than are fused, and lengths around the size of a block and of a vector.
TEST_P(ReduceTypes, EveryOperationAndNumberOfSources) {
  for (const ReduceOp op : ops_of(type_)) {
    for (const std::size_t sources : {1, 2, 3, 4, 5, 7, 8, 11}) {
      for (const std::size_t count : {0, 1, 3, 17, 1023, 1024, 1025, 2500}) {
        expect_equal_to_reference({type_, op, sources, count}, random_);
      }
    }
  }
}

TEST_P(ReduceTypes, Divisors) {
  if (!is_reducible(type_, ReduceOp::kAvg)) return;
  for (const std::uint32_t divisor : {2u, 3u, 6u, 200u, 8192u, 70'000u, 0xffff'ffffu}) {
    for (const std::size_t sources : {1, 2, 6}) {
      expect_equal_to_reference({type_, ReduceOp::kSum, sources, 1500, divisor}, random_);
    }
  }
}

TEST_P(ReduceTypes, TheTargetMayBeAnySource) {
  for (const ReduceOp op : ops_of(type_)) {
    for (int alias = 0; alias < 6; ++alias) {
      for (const std::size_t sources : {std::size_t{6}, static_cast<std::size_t>(alias + 1)}) {
        expect_equal_to_reference({type_, op, sources, 2100, 1, false, false, false, alias}, random_);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReduceTypes, ::testing::Range(0, kDataTypeCount),
                         [](const auto& test) { return std::string(dtype_name(static_cast<DataType>(test.param))); });

TEST(Reduce, HalvesScaledAndWide) {
  std::mt19937_64 random(99);
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    for (const ReduceOp op : ops_of(type)) {
      for (const bool wide_sources : {false, true}) {
        for (const bool wide_target : {false, true}) {
          for (const std::uint32_t divisor : {1u, 6u}) {
            for (const std::size_t sources : {1, 2, 5}) {
              expect_equal_to_reference({type, op, sources, 1300, divisor, true, wide_sources, wide_target}, random);
            }
          }
        }
      }
    }
  }
}

// Every exponent, on numbers of all sizes: ldexp, one rounding included.
TEST(Reduce, ExponentsAreThoseOfLdexp) {
  const std::vector<float> values = {1.0f, 1.9999999f, 1e-38f, 1.17549435e-38f, 1e-44f, 3.4e38f, -0.0f, 6.5e4f};
  for (int exponent = -128; exponent <= 127; ++exponent) {
    std::vector<float> result(values.size());
    const ReduceSource source{values.data(), true, static_cast<std::int8_t>(exponent)};
    reduce(DataType::kFloat16, ReduceOp::kSum, {result.data(), true}, {&source, 1}, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(std::ldexp(values[i], exponent)))
          << values[i] << " exponent " << exponent;
    }
  }
}

TEST(Reduce, OrderOfSourcesIsKept) {
  const float big = 1e8f, small = 1.0f, minus = -1e8f;
  const auto sum = [](float a, float b, float c) {
    const ReduceSource sources[] = {{&a}, {&b}, {&c}};
    float result = 0;
    reduce(DataType::kFloat32, ReduceOp::kSum, {&result}, sources, 1);
    return result;
  };
  EXPECT_EQ(sum(big, small, minus), 0.0f);
  EXPECT_EQ(sum(big, minus, small), 1.0f);
}

TEST(Reduce, HalvesAreAccumulatedInFp32AndRoundedOnce) {
  // 2048 + 1 is 2048 in fp16, so 2048 + 1 + 1 is 2050 only when the sum is wider.
  const std::uint16_t a = fp16_from_float(2048), b = fp16_from_float(1);
  std::uint16_t result = 0;
  const ReduceSource sources[] = {{&a}, {&b}, {&b}};
  reduce(DataType::kFloat16, ReduceOp::kSum, {&result}, sources, 1);
  EXPECT_EQ(float_from_fp16(result), 2050.0f);
}

TEST(Reduce, IntegersWrapBeforeTheDivision) {
  const std::uint8_t a = 200, b = 100;
  std::uint8_t result = 0;
  const ReduceSource sources[] = {{&a}, {&b}};
  reduce(DataType::kUInt8, ReduceOp::kSum, {&result, false, 0, 2}, sources, 1);
  EXPECT_EQ(result, 22);  // (300 - 256) / 2
}

TEST(Reduce, DivisionTruncatesTowardZero) {
  for (std::int32_t value = -32768; value <= 32767; ++value) {
    const auto wide = value;
    const auto narrow = static_cast<std::int16_t>(value);
    for (const std::uint32_t divisor : {3u, 7u, 32767u, 65535u}) {
      std::int16_t narrow_result = 0;
      std::int32_t wide_result = 0;
      const ReduceSource narrow_source{&narrow}, wide_source{&wide};
      reduce(DataType::kInt16, ReduceOp::kSum, {&narrow_result, false, 0, divisor}, {&narrow_source, 1}, 1);
      reduce(DataType::kInt32, ReduceOp::kSum, {&wide_result, false, 0, divisor}, {&wide_source, 1}, 1);
      ASSERT_EQ(narrow_result, value / static_cast<std::int64_t>(divisor)) << value << " / " << divisor;
      ASSERT_EQ(wide_result, value / static_cast<std::int64_t>(divisor)) << value << " / " << divisor;
    }
  }
}

TEST(Reduce, BoolsAreNormalised) {
  const std::uint8_t a[] = {2, 0, 0x80, 0}, b[] = {4, 0, 0, 1};
  const ReduceSource sources[] = {{a}, {b}};
  const auto result_of = [&](ReduceOp op) {
    std::vector<int> result;
    std::uint8_t bytes[4];
    reduce(DataType::kBool, op, {bytes}, sources, 4);
    for (const std::uint8_t byte : bytes) result.push_back(byte);
    return result;
  };
  EXPECT_EQ(result_of(ReduceOp::kSum), (std::vector<int>{1, 0, 1, 1}));
  EXPECT_EQ(result_of(ReduceOp::kMax), (std::vector<int>{1, 0, 1, 1}));
  EXPECT_EQ(result_of(ReduceOp::kProduct), (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(result_of(ReduceOp::kMin), (std::vector<int>{1, 0, 0, 0}));
}

// Another rounding direction, subnormals flushed: the same bytes, and the thread's state is as it was.
TEST(Reduce, TheCallersRoundingStateDoesNotMatter) {
  std::mt19937_64 random(5);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    const auto a = random_buffer(type, false, 3000, random), b = random_buffer(type, false, 3000, random);
    const ReduceSource sources[] = {{a.data()}, {b.data()}};
    std::vector<std::byte> usual(a.size()), unusual(a.size());
    reduce(type, ReduceOp::kSum, {usual.data(), false, 0, 3}, sources, 3000);
    std::fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
    constexpr unsigned kFlushAndIgnoreSubnormals = 0x8040;
    _mm_setcsr(_mm_getcsr() | kFlushAndIgnoreSubnormals);
    const unsigned before = _mm_getcsr();
#endif
    reduce(type, ReduceOp::kSum, {unusual.data(), false, 0, 3}, sources, 3000);
#if defined(__x86_64__)
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before & ~kFlushAndIgnoreSubnormals);
    EXPECT_EQ(after, before);
#endif
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(unusual, usual) << dtype_name(type);
  }
}

TEST(Reduce, BoolsExclusiveOrOfAnyTrueBytes) {
  const std::uint8_t a[] = {2, 0, 0x80, 0}, b[] = {4, 0, 0, 1};
  const ReduceSource sources[] = {{a}, {b}};
  std::uint8_t bytes[4];
  reduce(DataType::kBool, ReduceOp::kBitXor, {bytes}, sources, 4);
  EXPECT_EQ(std::vector<int>(bytes, bytes + 4), (std::vector<int>{0, 0, 1, 1}));
}

// DT-05.
TEST(Reduce, ProductOfComplexNumbers) {
  const float a[] = {1, 2}, b[] = {3, -4}, infinite[] = {std::numeric_limits<float>::infinity(), 0};
  float result[2];
  const ReduceSource sources[] = {{a}, {b}};
  reduce(DataType::kComplex64, ReduceOp::kProduct, {result}, sources, 1);
  EXPECT_EQ(std::vector<float>(result, result + 2), (std::vector<float>{11, 2}));
  const ReduceSource with_infinity[] = {{a}, {infinite}};  // by the formula: (inf - 0) + (0 + inf)i
  reduce(DataType::kComplex64, ReduceOp::kProduct, {result}, with_infinity, 1);
  EXPECT_EQ(result[0], infinite[0]);
  EXPECT_EQ(result[1], infinite[0]);
}

}  // namespace
}  // namespace isthmus
