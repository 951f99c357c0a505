#include "collectives/schedule/reduce_scatter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/device/reduce.h"
#include "tests/collectives/schedule/reduction_reference.h"
#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const ReduceScatterRequest& request) {
  return [&sites, request](int rank) {
    ReduceScatterRequest own = request;
    own.rank = rank;
    return build_reduce_scatter(sites, own);
  };
}

std::vector<BufferLayout> layouts_for(int ranks, std::size_t bytes, bool in_place) {
  std::vector<BufferLayout> layouts;
  const std::size_t total = bytes * static_cast<std::size_t>(ranks);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    layouts.push_back(in_place ? BufferLayout{0, total, rank * bytes, bytes} : BufferLayout::apart(total, bytes));
  }
  return layouts;
}

// The model is that of an allreduce in site order; rank r has block r of it.
void run_and_compare(const Shape& shape, const ReduceScatterRequest& request, bool in_place, std::uint64_t seed) {
  const SiteMap sites = shape.sites();
  SCOPED_TRACE(fmt::format("{} {} {} x{} {}", shape.name, dtype_name(request.type), reduce_op_name(request.op),
                           request.count_per_rank, in_place));
  const auto ranks = static_cast<std::size_t>(sites.size());
  std::vector<Buffer> inputs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    inputs.push_back(random_values(request.type, request.count_per_rank * ranks, seed * 100 + rank));
  }
  const std::size_t bytes = request.count_per_rank * dtype_size_bytes(request.type);
  const std::vector<Buffer> outputs =
      run_world(sites, layouts_for(sites.size(), bytes, in_place), builder_of(sites, request), inputs, seed);
  const Buffer all = ordered_allreduce(sites, request.type, request.op, AllreduceAlgorithm::kExchange, {}, inputs);
  const long double allowed = tolerance(request.type, request.op, ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * bytes);
    ASSERT_TRUE(std::equal(outputs[rank].begin(), outputs[rank].end(), begin)) << "rank " << rank;
    for (std::size_t i = 0; i < request.count_per_rank; i += 1 + request.count_per_rank / 11) {
      const long double exact = exact_element(request.type, request.op, inputs, rank * request.count_per_rank + i);
      ASSERT_LE(std::abs(element_at(request.type, outputs[rank], i) - exact), allowed) << "rank " << rank;
    }
  }
}

TEST(ReduceScatter, EveryShapeAndLength) {
  std::uint64_t turn = 1;
  for (const Shape& shape : all_shapes()) {
    for (const std::size_t count : lengths_for(shape, 101)) {
      for (const bool in_place : {false, true}) {
        ReduceScatterRequest request{.count_per_rank = count, .chunk_bytes = 120};
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
      const ReduceScatterRequest request{.count_per_rank = 13,
                                         .type = static_cast<DataType>(type),
                                         .op = static_cast<ReduceOp>(op),
                                         .chunk_bytes = 16};
      if (!check_reducible(request.type, request.op).ok()) continue;
      for (const Shape& shape : uneven_shapes()) run_and_compare(shape, request, true, 3);
    }
  }
}

TEST(ReduceScatter, OnePartialPerBlockAndSiteCrossesTheWan) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const auto schedules = build_all(sites, builder_of(sites, {.count_per_rank = 100, .chunk_bytes = 64}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{4 * 400, 3 * 400, 5 * 400}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

}  // namespace
}  // namespace isthmus::testing
