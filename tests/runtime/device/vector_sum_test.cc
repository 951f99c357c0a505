#include "runtime/device/vector_sum.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <random>
#include <vector>

#include "runtime/device/reduce_kernels.h"

// For every instruction set that this processor has and a kernel was compiled for: the bytes of the definition, and
// that the kernel was the one that ran.
namespace isthmus {
namespace {

using Buffer = std::vector<std::byte>;

constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBFloat16};

// Bytes that make special numbers are frequent: NaN, infinities, zeros of both signs, subnormals.
Buffer random_bits(std::size_t bytes, std::mt19937_64& random) {
  constexpr std::byte kSpecial[] = {std::byte{0},    std::byte{0x7f}, std::byte{0x80},
                                    std::byte{0xff}, std::byte{0x7c}, std::byte{0x01}};
  Buffer bits(bytes);
  for (std::byte& byte : bits)
    byte = random() % 2 == 0 ? kSpecial[random() % std::size(kSpecial)] : static_cast<std::byte>(random());
  return bits;
}

void define(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources, std::size_t count) {
  reduce_halves(type, ReduceOp::kSum, target, sources, 0, count);
}

// Runs `use(name)` once per instruction set, with the dispatch set to it.
template <typename Use>
void for_each_target(Use use) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    use(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

bool has_kernel(std::string_view target) { return target == "AVX2" || target.starts_with("AVX3"); }

struct Case {
  DataType type;
  std::size_t sources = 2;
  std::uint32_t divisor = 1;
  bool scaled = false, wide_sources = false, wide_target = false, in_place = false;
};

void expect_the_bytes_of_the_definition(const Case& c, std::string_view target_name, std::mt19937_64& random) {
  SCOPED_TRACE(fmt::format("{} {} x{} / {} {}{}{}{}", target_name, dtype_name(c.type), c.sources, c.divisor,
                           c.scaled ? "scaled " : "", c.wide_sources ? "wide sources " : "",
                           c.wide_target ? "wide target " : "", c.in_place ? "in place" : ""));
  constexpr std::size_t kCount = 5 * kVectorElements + 2048 + 17;
  std::vector<Buffer> data;
  std::vector<ReduceSource> sources;
  for (std::size_t k = 0; k < c.sources; ++k) {
    const bool wide = c.wide_sources && k % 2 == 0;
    data.push_back(random_bits(kCount * (wide ? sizeof(float) : dtype_size_bytes(c.type)), random));
    sources.push_back({data.back().data(), wide, static_cast<std::int8_t>(c.scaled ? -static_cast<int>(k) - 1 : 0)});
  }
  Buffer expected(kCount * (c.wide_target ? sizeof(float) : dtype_size_bytes(c.type))), actual(expected.size());
  ReduceTarget target{expected.data(), c.wide_target, static_cast<std::int8_t>(c.scaled ? 2 : 0), c.divisor};
  define(c.type, target, sources, kCount);
  target.data = c.in_place ? data.back().data() : actual.data();
  const VectorDone done = reduce_sum_in_vectors(c.type, target, sources, kCount);
  if (!has_kernel(target_name)) {
    EXPECT_EQ(done.count, 0u);
    EXPECT_EQ(done.target, "");
    return;
  }
  EXPECT_EQ(done.target, target_name);
  EXPECT_EQ(done.count, kCount / kVectorElements * kVectorElements);
  const std::size_t bytes = done.count * expected.size() / kCount;
  EXPECT_EQ(std::memcmp(target.data, expected.data(), bytes), 0);
}

TEST(VectorSum, EveryInstructionSetGivesTheBytesOfTheDefinition) {
  std::mt19937_64 random(3);
  for_each_target([&](const std::string& name) {
    fmt::print("{}: {}\n", name, has_kernel(name) ? "a kernel" : "no kernel, the definition");
    for (const DataType type : kTypes) {
      for (const std::size_t sources : {1, 2, 3, 4, 5, 7, 8, 11}) {
        for (const std::uint32_t divisor : {1u, 3u})
          expect_the_bytes_of_the_definition({.type = type, .sources = sources, .divisor = divisor}, name, random);
        expect_the_bytes_of_the_definition({.type = type, .sources = sources, .in_place = true}, name, random);
        for (const bool wide_sources : {false, true}) {
          for (const bool wide_target : {false, true}) {
            expect_the_bytes_of_the_definition({type, sources, 3, true, wide_sources, wide_target}, name, random);
          }
        }
      }
    }
  });
}

// All 65536 halves, as they are: what a kernel reads and rounds.
TEST(VectorSum, EveryHalf) {
  std::vector<std::uint16_t> halves(65536), expected(65536), actual(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for_each_target([&](const std::string& name) {
    for (const DataType type : kTypes) {
      for (const std::int8_t exponent : {0, -1, -12, 9}) {
        const ReduceSource source{halves.data(), false, exponent};
        define(type, {expected.data()}, {&source, 1}, halves.size());
        if (reduce_sum_in_vectors(type, {actual.data()}, {&source, 1}, halves.size()).count == 0) continue;
        EXPECT_EQ(actual, expected) << name << " " << dtype_name(type) << " exponent " << int{exponent};
      }
    }
  });
}

// Rounding to a half from every place between two of them.
TEST(VectorSum, EveryRounding) {
  std::vector<float> numbers;
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      numbers.push_back(std::bit_cast<float>(high << 16 | low));
  }
  std::vector<std::uint16_t> expected(numbers.size()), actual(numbers.size());
  for_each_target([&](const std::string& name) {
    for (const DataType type : kTypes) {
      const ReduceSource source{numbers.data(), true, 0};
      define(type, {expected.data()}, {&source, 1}, numbers.size());
      if (reduce_sum_in_vectors(type, {actual.data()}, {&source, 1}, numbers.size()).count == 0) continue;
      EXPECT_EQ(actual, expected) << name << " " << dtype_name(type);
    }
  });
}

TEST(VectorSum, TheBestInstructionSetIsNamedAndTaken) {
  const auto supported = hwy::SupportedAndGeneratedTargets();
  const std::string best = hwy::TargetName(supported.front());
  EXPECT_EQ(vector_target(), has_kernel(best) ? best : "");
}

TEST(VectorSum, FewerThanAVectorsElementsAreLeftToTheDefinition) {
  const std::uint16_t numbers[kVectorElements] = {};
  std::uint16_t sum[kVectorElements];
  const ReduceSource source{numbers};
  EXPECT_EQ(reduce_sum_in_vectors(DataType::kFloat16, {sum}, {&source, 1}, kVectorElements - 1).count, 0u);
}

}  // namespace
}  // namespace isthmus
