#include "collectives/schedule/reduce_scatter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/schedule/premultiply.h"
#include "runtime/device/reducible.h"
#include "tests/collectives/schedule/reduction_reference.h"
#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const ReduceScatterRequest& request) {
  return [&sites, request](int rank) {
    ReduceScatterRequest own = request;
    own.rank = rank;
    const Schedule schedule = build_reduce_scatter(sites, own);
    return own.op == ReduceOp::kPremulSum ? premultiply(schedule, Products::kInScratch) : schedule;
  };
}

std::vector<BufferLayout> layouts_for(const std::vector<std::size_t>& counts, std::size_t element, bool in_place) {
  std::vector<BufferLayout> layouts;
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * element;
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    const std::size_t bytes = count * element;
    layouts.push_back(in_place ? BufferLayout{0, total, begin, bytes} : BufferLayout::apart(total, bytes));
    begin += bytes;
  }
  return layouts;
}

// The model is that of an allreduce in site order; rank r has block r of it.
void run_and_compare(const Shape& shape, const ReduceScatterRequest& request, bool in_place, std::uint64_t seed) {
  const SiteMap sites = shape.sites();
  SCOPED_TRACE(fmt::format("{} {} {} x{} {}", shape.name, dtype_name(request.type), reduce_op_name(request.op),
                           fmt::join(request.block_counts, "+"), in_place));
  const auto ranks = static_cast<std::size_t>(sites.size());
  const std::size_t total = std::accumulate(request.block_counts.begin(), request.block_counts.end(), std::size_t{0});
  std::vector<Buffer> inputs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    inputs.push_back(random_values(request.type, total, seed * 100 + rank));
  }
  const std::size_t element = dtype_size_bytes(request.type);
  const std::vector<Buffer> outputs =
      run_world(sites, layouts_for(request.block_counts, element, in_place), builder_of(sites, request), inputs, seed);
  const Buffer all = ordered_allreduce(sites, request.type, request.op, AllreduceAlgorithm::kExchange, {}, inputs);
  const long double allowed = tolerance(request.type, request.op, ranks);
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t count = request.block_counts[rank];
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * element);
    ASSERT_TRUE(std::equal(outputs[rank].begin(), outputs[rank].end(), begin)) << "rank " << rank;
    const std::size_t parts = parts_of(request.type, count), first_part = parts_of(request.type, first);
    for (std::size_t i = 0; i < parts; i += 1 + parts / 11) {
      const long double exact = exact_element(request.type, request.op, inputs, first_part + i);
      ASSERT_LE(std::abs(element_at(request.type, outputs[rank], i) - exact), allowed) << "rank " << rank;
    }
    first += count;
  }
}

TEST(ReduceScatter, EveryShapeAndLength) {
  std::uint64_t turn = 1;
  for (const Shape& shape : all_shapes()) {
    for (const std::size_t count : lengths_for(shape, 101)) {
      for (const bool in_place : {false, true}) {
        ReduceScatterRequest request{.block_counts = equal_blocks(shape.sites(), count), .chunk_bytes = 120};
        do {
          ++turn;
          request.type = static_cast<DataType>(turn % kDataTypeCount);
          request.op = static_cast<ReduceOp>(turn / kDataTypeCount % kReduceOpCount);
        } while (!check_reducible(request.type, request.op).ok());
        run_and_compare(shape, request, in_place, turn);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ReduceScatter, EveryTypeAndOperationInUnevenWorlds) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (int op = 0; op < kReduceOpCount; ++op) {
      ReduceScatterRequest request{
          .type = static_cast<DataType>(type), .op = static_cast<ReduceOp>(op), .chunk_bytes = 16};
      if (!check_reducible(request.type, request.op).ok()) continue;
      for (const Shape& shape : uneven_shapes()) {
        request.block_counts = equal_blocks(shape.sites(), 13);
        run_and_compare(shape, request, true, 3);
      }
    }
  }
}

TEST(ReduceScatter, BlocksMayDifferInSize) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const bool in_place : {false, true}) {
      const ReduceScatterRequest request{.block_counts = uneven_blocks(shape.sites(), 90, ++seed), .chunk_bytes = 120};
      run_and_compare(shape, request, in_place, seed);
      if (HasFailure()) return;
    }
  }
}

TEST(ReduceScatter, OnePartialPerBlockAndSiteCrossesTheWan) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const auto schedules =
      build_all(sites, builder_of(sites, {.block_counts = equal_blocks(sites, 100), .chunk_bytes = 64}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{4 * 400, 3 * 400, 5 * 400}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

}  // namespace
}  // namespace isthmus::testing
