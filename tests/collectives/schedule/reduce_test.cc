#include "collectives/schedule/reduce.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/schedule/premultiply.h"
#include "runtime/device/reducible.h"
#include "tests/collectives/schedule/reduction_reference.h"
#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const ReduceRequest& request) {
  return [&sites, request](int rank) {
    ReduceRequest own = request;
    own.rank = rank;
    const Schedule schedule = build_reduce(sites, own);
    return own.op == ReduceOp::kPremulSum ? premultiply(schedule, Products::kInScratch) : schedule;
  };
}

// The root has the bytes of an allreduce in site order; nobody else has an output.
void run_and_compare(const Shape& shape, const ReduceRequest& request, bool in_place, std::uint64_t seed) {
  const SiteMap sites = shape.sites();
  SCOPED_TRACE(fmt::format("{} {} {} x{} root {} algorithm {} {}", shape.name, dtype_name(request.type),
                           reduce_op_name(request.op), request.count, request.root, static_cast<int>(request.algorithm),
                           in_place ? "in place" : ""));
  const std::size_t bytes = request.count * dtype_size_bytes(request.type);
  const auto ranks = static_cast<std::size_t>(sites.size()), root = static_cast<std::size_t>(request.root);
  std::vector<Buffer> inputs;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    inputs.push_back(random_values(request.type, request.count, seed * 100 + rank));
  std::vector<BufferLayout> layouts(ranks, BufferLayout::apart(bytes, 0));
  layouts[root] = in_place ? BufferLayout::in_place(bytes) : BufferLayout::apart(bytes, bytes);
  const std::vector<Buffer> outputs = run_world(sites, layouts, builder_of(sites, request), inputs, seed);
  ASSERT_EQ(outputs[root],
            ordered_allreduce(sites, request.type, request.op, AllreduceAlgorithm::kExchange, {}, inputs));
}

TEST(Reduce, EveryShapeLengthAndAlgorithm) {
  std::uint64_t turn = 1;
  for (const Shape& shape : all_shapes()) {
    for (const std::size_t count : lengths_for(shape, 211)) {
      for (const ReduceAlgorithm algorithm : {ReduceAlgorithm::kToRoot, ReduceAlgorithm::kOwners}) {
        for (const bool in_place : {false, true}) {
          ReduceRequest request{.count = count, .algorithm = algorithm, .chunk_bytes = 120};
          do {
            ++turn;
            request.type = static_cast<DataType>(turn % kDataTypeCount);
            request.op = static_cast<ReduceOp>(turn / kDataTypeCount % kReduceOpCount);
          } while (!check_reducible(request.type, request.op).ok());
          request.root = static_cast<int>(turn % shape.site_of_rank.size());
          run_and_compare(shape, request, in_place, turn);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Reduce, SeventeenSites) {
  Shape shape{"17x1", {}};
  for (int site = 0; site < 17; ++site) shape.site_of_rank.push_back(site);
  for (const ReduceAlgorithm algorithm : {ReduceAlgorithm::kToRoot, ReduceAlgorithm::kOwners})
    run_and_compare(shape, {.root = 5, .count = 1001, .algorithm = algorithm, .chunk_bytes = 64}, true, 3);
}

TEST(Reduce, ToRootIsOneTripAndEverySiteSendsItsPartial) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const auto schedules =
      build_all(sites, builder_of(sites, {.root = 3, .count = 600, .algorithm = ReduceAlgorithm::kToRoot}));
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{2400, 0, 2400}));
  EXPECT_EQ(wan_trips(schedules, sites), 1);
}

TEST(Reduce, OwnersTakeTwoTripsAndFewerBytesIntoTheRootsSite) {
  const SiteMap sites({0, 1, 2, 3});
  const auto schedules =
      build_all(sites, builder_of(sites, {.root = 0, .count = 400, .algorithm = ReduceAlgorithm::kOwners}));
  // Every site sends (S-1)/S of its partial, and all but the root's its part of the result.
  EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{1200, 1600, 1600, 1600}));
  EXPECT_EQ(wan_trips(schedules, sites), 2);
}

TEST(Reduce, TheAlgorithmIsChosenBySizeAndSites) {
  EXPECT_EQ(choose_reduce_algorithm(2, 1 << 20, 4096), ReduceAlgorithm::kToRoot);
  EXPECT_EQ(choose_reduce_algorithm(3, 4096, 4096), ReduceAlgorithm::kToRoot);
  EXPECT_EQ(choose_reduce_algorithm(3, 4097, 4096), ReduceAlgorithm::kOwners);
}

}  // namespace
}  // namespace isthmus::testing
