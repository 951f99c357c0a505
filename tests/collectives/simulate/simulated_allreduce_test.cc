#include "collectives/simulate/simulated_allreduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/plan/lower_bound.h"

namespace isthmus {
namespace {

using testing::HasSubstr;

Network sites(int count, int ranks) { return uniform_network(count, ranks, {"", 1, 12'500'000, 12'500'000}, {30'000}); }

PlanRequest request_of(std::size_t bytes, std::optional<AllreduceAlgorithm> algorithm = std::nullopt) {
  PlanRequest request;
  request.bytes = bytes;
  request.algorithm = algorithm;
  return request;
}

// The simulation runs the schedules, the planner a formula: they agree where the formula is meant to hold.
TEST(SimulatedAllreduce, AgreesWithThePlanner) {
  for (const int count : {2, 3, 4, 8}) {
    const Planner planner(sites(count, 1));
    for (const auto algorithm :
         {AllreduceAlgorithm::kExchange, AllreduceAlgorithm::kDirect, AllreduceAlgorithm::kRing}) {
      for (const std::size_t bytes : {std::size_t{1024}, std::size_t{1} << 20, std::size_t{16} << 20}) {
        const auto simulated = simulate_allreduce(planner, request_of(bytes, algorithm));
        ASSERT_TRUE(simulated.ok()) << simulated.status().to_string();
        EXPECT_NEAR(simulated->result.seconds / simulated->plan.estimate.time(), 1, 0.1)
            << count << " sites, " << allreduce_algorithm_name(algorithm) << ", " << bytes << " bytes";
        EXPECT_GE(simulated->result.seconds, simulated->plan.estimate.lower_bound);
      }
    }
  }
}

TEST(SimulatedAllreduce, UnequalSharesWinWhatIsPredicted) {
  Network network = sites(4, 1);
  network.sites[3].up_bytes_per_sec = network.sites[3].down_bytes_per_sec = 3'125'000;
  const Planner planner(network);
  PlanRequest request = request_of(64 << 20);
  const double unequal = simulate_allreduce(planner, request).value().result.seconds;
  request.equal_shares = true;
  request.algorithm = AllreduceAlgorithm::kDirect;
  const double equal = simulate_allreduce(planner, request).value().result.seconds;
  EXPECT_LE(unequal, 1.10 * allreduce_lower_bound(network, 64 << 20));
  EXPECT_NEAR(equal / unequal, 1.5, 0.05);
}

// One shard for all is what all ranks give together.
TEST(SimulatedAllreduce, OneShardStandsForAll) {
  const Planner equal(sites(3, 2));
  const auto shard = simulate_allreduce(equal, request_of(4 << 20));
  ASSERT_TRUE(shard.ok());
  EXPECT_TRUE(shard->is_one_shard);
  Network network = sites(3, 2);
  network.sites[2].rank_count = 3;  // not equal: all ranks are simulated
  const auto all = simulate_allreduce(Planner(network), request_of(4 << 20));
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(all->is_one_shard);
  EXPECT_NEAR(shard->result.seconds, all->result.seconds, 0.1 * all->result.seconds);
}

TEST(SimulatedAllreduce, Reports) {
  const Planner planner(sites(4, 1));
  const PlanRequest request = request_of(1024);
  const SimulatedAllreduce simulated = simulate_allreduce(planner, request).value();
  EXPECT_THAT(simulation_in_words(planner, request, simulated),
              HasSubstr("allreduce of 1 KiB over 4 sites, 4 ranks, exchange"));
  EXPECT_THAT(simulation_as_json(planner, request, simulated), HasSubstr("\"predicted_ms\": 30."));
}

TEST(SimulatedAllreduce, RefusesWhatIsTooLarge) {
  const Planner planner(sites(1024, 1));
  const auto simulated = simulate_allreduce(planner, request_of(std::size_t{1} << 26, AllreduceAlgorithm::kExchange));
  EXPECT_EQ(simulated.status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace isthmus
