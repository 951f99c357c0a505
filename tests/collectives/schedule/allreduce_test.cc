#include "collectives/schedule/allreduce.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "collectives/schedule/double_tree.h"
#include "collectives/schedule/premultiply.h"
#include "runtime/device/half.h"
#include "runtime/device/reducible.h"
#include "tests/collectives/schedule/reduction_reference.h"
#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

constexpr AllreduceAlgorithm kAlgorithms[] = {AllreduceAlgorithm::kExchange, AllreduceAlgorithm::kDirect,
                                              AllreduceAlgorithm::kRing, AllreduceAlgorithm::kTree};

BuildSchedule builder_of(const SiteMap& sites, const AllreduceRequest& request) {
  return [&sites, request](int rank) {
    AllreduceRequest own = request;
    own.rank = rank;
    const Schedule schedule = build_allreduce(sites, own);
    return own.op == ReduceOp::kPremulSum ? premultiply(schedule, Products::kInOutput) : schedule;
  };
}

std::vector<Buffer> random_inputs(const SiteMap& sites, const AllreduceRequest& request, std::uint64_t seed) {
  std::vector<Buffer> inputs;
  for (int rank = 0; rank < sites.size(); ++rank) {
    inputs.push_back(random_values(request.type, request.count, seed * 1000 + static_cast<std::uint64_t>(rank)));
  }
  return inputs;
}

// Runs one allreduce and compares every rank's bytes with the scalar model in the algorithm's own order.
Buffer run_and_compare(const SiteMap& sites, const AllreduceRequest& request, const std::vector<Buffer>& inputs,
                       bool in_place, std::uint64_t seed) {
  const std::size_t bytes = request.count * dtype_size_bytes(request.type);
  const BufferLayout layout = in_place ? BufferLayout::in_place(bytes) : BufferLayout::apart(bytes, bytes);
  const std::vector<Buffer> outputs =
      run_world(sites, std::vector(inputs.size(), layout), builder_of(sites, request), inputs, seed);
  const Buffer expected = ordered_allreduce(sites, request.type, request.op, request.algorithm, request.owner_weights,
                                            inputs, request.site_order);
  for (std::size_t rank = 0; rank < outputs.size(); ++rank) EXPECT_EQ(outputs[rank], expected) << "rank " << rank;
  return expected;
}

void expect_close_to_exact(const AllreduceRequest& request, const std::vector<Buffer>& inputs, const Buffer& result) {
  const long double allowed = tolerance(request.type, request.op, inputs.size());
  const std::size_t parts = parts_of(request.type, request.count);
  for (std::size_t i = 0; i < parts; i += 1 + parts / 97) {
    const long double exact = exact_element(request.type, request.op, inputs, i);
    ASSERT_LE(std::abs(element_at(request.type, result, i) - exact), allowed)
        << "element " << i << ": " << element_at(request.type, result, i) << ", exactly " << exact;
  }
}

std::string describe(const Shape& shape, const AllreduceRequest& request, bool in_place) {
  return fmt::format("{} {} {} {} x{} {}", shape.name, allreduce_algorithm_name(request.algorithm),
                     dtype_name(request.type), reduce_op_name(request.op), request.count,
                     in_place ? "in place" : "out of place");
}

class AllreduceShapes : public ::testing::TestWithParam<Shape> {};

// Every algorithm and length; types and operations take turns, so that all pairs occur over the shapes.
TEST_P(AllreduceShapes, EqualsTheModelOnEveryRank) {
  const Shape& shape = GetParam();
  const SiteMap sites = shape.sites();
  std::uint64_t turn = std::hash<std::string>()(shape.name);
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    for (const std::size_t count : lengths_for(shape, 1009)) {
      for (const bool in_place : {false, true}) {
        AllreduceRequest request{.count = count, .algorithm = algorithm, .chunk_bytes = 256};
        do {
          ++turn;
          request.type = static_cast<DataType>(turn % kDataTypeCount);
          request.op = static_cast<ReduceOp>(turn / kDataTypeCount % kReduceOpCount);
        } while (!check_reducible(request.type, request.op).ok());
        SCOPED_TRACE(describe(shape, request, in_place));
        const std::vector<Buffer> inputs = random_inputs(sites, request, turn);
        const Buffer result = run_and_compare(sites, request, inputs, in_place, turn);
        expect_close_to_exact(request, inputs, result);
        if (HasFailure()) return;
      }
    }
  }
}

// Special numbers: the same bytes on all ranks, as the model has them.
TEST_P(AllreduceShapes, SpecialNumbersHaveTheSameBytesEverywhere) {
  const Shape& shape = GetParam();
  const SiteMap sites = shape.sites();
  std::uint64_t turn = std::hash<std::string>()(shape.name) + 17;
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    for (const DataType type :
         {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16, DataType::kBool, DataType::kComplex64}) {
      AllreduceRequest request{.count = 41, .type = type, .algorithm = algorithm, .chunk_bytes = 64};
      do {
        request.op = static_cast<ReduceOp>(++turn % kReduceOpCount);
      } while (!check_reducible(request.type, request.op).ok());
      std::vector<Buffer> inputs;
      for (int rank = 0; rank < sites.size(); ++rank) {
        inputs.push_back(
            random_bits(request.count * dtype_size_bytes(type), turn * 100 + static_cast<std::uint64_t>(rank)));
      }
      SCOPED_TRACE(describe(shape, request, true));
      run_and_compare(sites, request, inputs, true, turn);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, AllreduceShapes, ::testing::ValuesIn(all_shapes()), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

class AllreduceTypes : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(AllreduceTypes, EveryAlgorithmInAnUnevenWorld) {
  AllreduceRequest request{.count = 83, .chunk_bytes = 40};
  request.type = static_cast<DataType>(std::get<0>(GetParam()));
  request.op = static_cast<ReduceOp>(std::get<1>(GetParam()));
  if (!check_reducible(request.type, request.op).ok()) return;  // which ones: see reduce_test
  for (const Shape& shape : uneven_shapes()) {
    const SiteMap sites = shape.sites();
    for (const AllreduceAlgorithm algorithm : kAlgorithms) {
      request.algorithm = algorithm;
      SCOPED_TRACE(describe(shape, request, true));
      const std::vector<Buffer> inputs = random_inputs(sites, request, 5);
      expect_close_to_exact(request, inputs, run_and_compare(sites, request, inputs, true, 6));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, AllreduceTypes,
                         ::testing::Combine(::testing::Range(0, kDataTypeCount), ::testing::Range(0, kReduceOpCount)),
                         [](const auto& test) {
                           return fmt::format("{}_{}", dtype_name(static_cast<DataType>(std::get<0>(test.param))),
                                              reduce_op_name(static_cast<ReduceOp>(std::get<1>(test.param))));
                         });

TEST(Allreduce, LargerBuffersOfManyChunks) {
  for (const Shape& shape :
       {Shape{"3x2", {0, 0, 1, 1, 2, 2}}, Shape{"1+3+2", {0, 1, 1, 1, 2, 2}}, Shape{"2x1", {0, 1}}}) {
    const SiteMap sites = shape.sites();
    for (const AllreduceAlgorithm algorithm : kAlgorithms) {
      for (const DataType type : {DataType::kFloat32, DataType::kBFloat16}) {
        const AllreduceRequest request{.count = 10007, .type = type, .algorithm = algorithm, .chunk_bytes = 1000};
        SCOPED_TRACE(describe(shape, request, true));
        const std::vector<Buffer> inputs = random_inputs(sites, request, 3);
        expect_close_to_exact(request, inputs, run_and_compare(sites, request, inputs, true, 4));
      }
    }
  }
}

TEST(Allreduce, OwnersByWeight) {
  const SiteMap sites({0, 0, 1, 2, 2, 2});
  for (const AllreduceAlgorithm algorithm : {AllreduceAlgorithm::kDirect, AllreduceAlgorithm::kRing}) {
    for (const std::vector<std::uint32_t>& weights : {std::vector<std::uint32_t>{3, 0, 1}, {0, 0, 7}, {1000, 1, 999}}) {
      const AllreduceRequest request{.count = 503,
                                     .type = DataType::kFloat16,
                                     .algorithm = algorithm,
                                     .chunk_bytes = 64,
                                     .owner_weights = weights};
      const std::vector<Buffer> inputs = random_inputs(sites, request, 8);
      expect_close_to_exact(request, inputs, run_and_compare(sites, request, inputs, false, 9));
    }
  }
}

// Ring and tree for 1 to 17 sites, neighbours in any order, lengths that divide by nothing: every element is reduced
// exactly once on every rank (the sum of distinct powers of two), no step waits for ever, and the bytes and trips are
// those of the formulas.
TEST(Allreduce, NeighboursInAnyOrderForOneToSeventeenSites) {
  std::mt19937 random(11);
  for (int count = 1; count <= 17; ++count) {
    std::vector<int> site_of_rank(static_cast<std::size_t>(count));
    std::iota(site_of_rank.begin(), site_of_rank.end(), 0);
    if (count % 3 == 0) site_of_rank.push_back(1);  // a site of two
    const SiteMap sites(site_of_rank);
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (const AllreduceAlgorithm algorithm : {AllreduceAlgorithm::kRing, AllreduceAlgorithm::kTree}) {
      for (const std::size_t length :
           {std::size_t{1}, std::size_t{2}, std::size_t{16}, std::size_t{37}, std::size_t{1021}}) {
        std::ranges::shuffle(order, random);
        AllreduceRequest request{.count = length, .type = DataType::kInt64, .algorithm = algorithm, .chunk_bytes = 200};
        request.site_order = order;
        SCOPED_TRACE(fmt::format("{} sites, {} elements, {}", count, length, allreduce_algorithm_name(algorithm)));
        std::vector<Buffer> inputs;
        for (int rank = 0; rank < sites.size(); ++rank) {
          const std::vector<std::int64_t> values(length, std::int64_t{1} << (3 * rank));
          const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
          inputs.emplace_back(bytes, bytes + length * sizeof(std::int64_t));
        }
        const Buffer result = run_and_compare(sites, request, inputs, length % 2 == 0, length);
        for (std::size_t i = 0; i < length; ++i) {
          ASSERT_EQ(element_at(request.type, result, i), exact_element(request.type, request.op, inputs, i));
        }
        request.type = DataType::kBFloat16;
        run_and_compare(sites, request, random_inputs(sites, request, length), length % 2 == 0, length + 1);
        if (HasFailure()) return;
      }
    }
  }
}

// What all sites together send in a double tree: each of the S-1 edges of both trees carries its half up and down.
TEST(Allreduce, BytesOfAllSitesInADoubleTree) {
  for (int count = 1; count <= 17; ++count) {
    std::vector<int> site_of_rank(static_cast<std::size_t>(count));
    std::iota(site_of_rank.begin(), site_of_rank.end(), 0);
    const SiteMap sites(site_of_rank);
    const AllreduceRequest request{.count = 1001, .algorithm = AllreduceAlgorithm::kTree, .chunk_bytes = 100};
    const std::vector<Schedule> schedules = build_all(sites, builder_of(sites, request));
    const std::vector<std::size_t> sent = wan_bytes_sent(schedules, sites);
    EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), std::size_t{0}),
              2 * static_cast<std::size_t>(count - 1) * request.count * sizeof(float));
    EXPECT_EQ(wan_trips(schedules, sites), 2 * tree_depth(count));
  }
}

TEST(Allreduce, AverageOfHalvesNeitherOverflowsNorVanishes) {
  for (const Shape& shape : {Shape{"2x2", {0, 0, 1, 1}}, Shape{"1x4", {0, 0, 0, 0}}, Shape{"4x1", {0, 1, 2, 3}}}) {
    const SiteMap sites = shape.sites();
    for (const AllreduceAlgorithm algorithm : kAlgorithms) {
      const AllreduceRequest request{
          .count = 3, .type = DataType::kFloat16, .op = ReduceOp::kAvg, .algorithm = algorithm};
      SCOPED_TRACE(describe(shape, request, false));
      const std::uint16_t values[] = {fp16_from_float(40000.0f), fp16_from_float(std::ldexp(1.0f, -24)),
                                      fp16_from_float(65504.0f)};
      Buffer input(sizeof(values));
      std::memcpy(input.data(), values, sizeof(values));
      EXPECT_EQ(run_and_compare(sites, request, std::vector(4, input), false, 1), input);
    }
  }
}

TEST(Allreduce, AverageOfTheLargestBFloat16IsItself) {
  const SiteMap sites({0, 0, 0, 1, 1, 2});
  const std::uint16_t largest = 0x7f7f;
  Buffer input(sizeof(largest));
  std::memcpy(input.data(), &largest, sizeof(largest));
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    const AllreduceRequest request{
        .count = 1, .type = DataType::kBFloat16, .op = ReduceOp::kAvg, .algorithm = algorithm};
    SCOPED_TRACE(allreduce_algorithm_name(algorithm));
    EXPECT_EQ(run_and_compare(sites, request, std::vector(6, input), false, 1), input);
  }
}

TEST(Allreduce, SumOf64BitIntegersIsExactBeyondDoubles) {
  const SiteMap sites({0, 0, 1, 2});
  const std::int64_t values[] = {(std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53), std::int64_t{1} << 62,
                                 std::int64_t{1} << 62};
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    const AllreduceRequest request{.count = 1, .type = DataType::kInt64, .algorithm = algorithm};
    std::vector<Buffer> inputs;
    for (const std::int64_t& value : values) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      inputs.emplace_back(bytes, bytes + sizeof(value));
    }
    const Buffer result = run_and_compare(sites, request, inputs, true, 2);
    std::int64_t sum = 0;
    std::memcpy(&sum, result.data(), sizeof(sum));
    EXPECT_EQ(sum, std::numeric_limits<std::int64_t>::min() + 1);  // 2^63 + 1 in two's complement
  }
}

// Repeats of a block, and the block alone, in worlds where order is by site: the same bytes wherever an element lies.
TEST(Allreduce, SiteOrderDoesNotDependOnThePlaceOfAnElement) {
  const SiteMap sites({0, 1, 1, 2, 3});
  AllreduceRequest request{.count = 64, .algorithm = AllreduceAlgorithm::kDirect, .chunk_bytes = 48};
  const std::vector<Buffer> once = random_inputs(sites, request, 12);
  const Buffer alone = run_and_compare(sites, request, once, false, 1);
  std::vector<Buffer> repeated;
  for (const Buffer& input : once) {
    Buffer four;
    for (int i = 0; i < 4; ++i) four.insert(four.end(), input.begin(), input.end());
    repeated.push_back(std::move(four));
  }
  request.count *= 4;
  const Buffer together = run_and_compare(sites, request, repeated, false, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(i * alone.size())));
  }
}

TEST(Allreduce, BytesOverTheWan) {
  constexpr std::size_t kCount = 120'000;
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    const auto others = static_cast<std::size_t>(sites.site_count() - 1);
    for (const AllreduceAlgorithm algorithm : kAlgorithms) {
      for (const DataType type : {DataType::kFloat32, DataType::kFloat16}) {
        const AllreduceRequest request{.count = kCount, .type = type, .algorithm = algorithm, .chunk_bytes = 16384};
        const std::size_t size = kCount * dtype_size_bytes(type);
        std::size_t bound = 2 * others * size / (others + 1);
        if (algorithm == AllreduceAlgorithm::kExchange) bound = others * size;
        if (algorithm == AllreduceAlgorithm::kTree) bound = others == 0 ? 0 : 2 * size;
        const bool is_wide = algorithm == AllreduceAlgorithm::kRing || algorithm == AllreduceAlgorithm::kTree;
        if (is_wide && is_half(type)) bound = bound * 3 / 2;
        // A block is one element longer than another at most, in every shard.
        const std::size_t rounding = 2 * 4 * others * static_cast<std::size_t>(sites.max_local_size());
        SCOPED_TRACE(describe(shape, request, false));
        for (const std::size_t bytes : wan_bytes_sent(build_all(sites, builder_of(sites, request)), sites)) {
          EXPECT_LE(bytes, bound + rounding);
        }
      }
    }
  }
}

TEST(Allreduce, OneWayTrips) {
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    const int others = sites.site_count() - 1;
    const auto trips = [&](AllreduceAlgorithm algorithm) {
      const AllreduceRequest request{.count = 256, .algorithm = algorithm};
      return wan_trips(build_all(sites, builder_of(sites, request)), sites);
    };
    SCOPED_TRACE(shape.name);
    EXPECT_EQ(trips(AllreduceAlgorithm::kExchange), others == 0 ? 0 : 1);
    EXPECT_EQ(trips(AllreduceAlgorithm::kDirect), others == 0 ? 0 : 2);
    EXPECT_EQ(trips(AllreduceAlgorithm::kRing), 2 * others);
    EXPECT_EQ(trips(AllreduceAlgorithm::kTree), 2 * tree_depth(sites.site_count()));
  }
}

// Scratch holds what is received to be reduced, and nothing else (but for the fp32 sums of a ring of halves).
TEST(Allreduce, ScratchIsBounded) {
  constexpr std::size_t kCount = 1 << 16;
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    const AllreduceRequest request{.count = kCount, .algorithm = AllreduceAlgorithm::kDirect, .chunk_bytes = 65536};
    for (const Schedule& schedule : build_all(sites, builder_of(sites, request))) {
      std::size_t received = 0;
      for (const Step& step : schedule.steps) {
        if (step.kind == StepKind::kReceive && step.region.space == Space::kScratch)
          received += (step.bytes + 63) / 64 * 64;
      }
      EXPECT_EQ(schedule.scratch_bytes, received);
      EXPECT_LE(schedule.scratch_bytes, 2 * kCount * sizeof(float));
    }
  }
}

TEST(Allreduce, NothingToReduceIsAnEmptySchedule) {
  const SiteMap sites({0, 0, 1});
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    const Schedule schedule = build_allreduce(sites, {.rank = 1, .count = 0, .algorithm = algorithm});
    EXPECT_TRUE(schedule.steps.empty());
    EXPECT_EQ(schedule.scratch_bytes, 0u);
  }
}

TEST(Allreduce, OneRankStillMakesItsNumbersCanonical) {
  const SiteMap sites({0});
  const AllreduceRequest request{.count = 3, .type = DataType::kBool};
  const Buffer input = {std::byte{7}, std::byte{0}, std::byte{1}};
  EXPECT_EQ(run_and_compare(sites, request, {input}, true, 1), (Buffer{std::byte{1}, std::byte{0}, std::byte{1}}));
}

// 64 MiB in chunks of 256 KiB. The time is for the log; what was reserved is enough, and not much more than that.
TEST(Allreduce, BuildingIsCheap) {
  for (const AllreduceAlgorithm algorithm : kAlgorithms) {
    const SiteMap sites({0, 0, 1, 1, 2, 2});
    const auto start = std::chrono::steady_clock::now();
    const Schedule schedule =
        build_allreduce(sites, {.rank = 3, .count = std::size_t{1} << 24, .algorithm = algorithm});
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    RecordProperty(fmt::format("{}_us", allreduce_algorithm_name(algorithm)), fmt::format("{:.0f}", us));
    fmt::print("{}: {} steps in {:.0f} us, scratch {} KiB\n", allreduce_algorithm_name(algorithm),
               schedule.steps.size(), us, schedule.scratch_bytes / 1024);
    EXPECT_GE(schedule.steps.size(), 256u);
    EXPECT_LE(schedule.steps.capacity(), 2 * schedule.steps.size());
    EXPECT_LE(schedule.dependencies.capacity(), 4 * schedule.dependencies.size());
  }
}

}  // namespace
}  // namespace isthmus::testing
