#include "collectives/plan/planner.h"

#include <gtest/gtest.h>

#include "collectives/plan/lower_bound.h"

namespace isthmus {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

Network sites(int count, std::int64_t bytes_per_sec = 12'500'000, std::int64_t delay_us = 30'000) {
  return uniform_network(count, 1, {"", 1, bytes_per_sec, bytes_per_sec}, {delay_us});
}

AllreduceAlgorithm choice(const Network& network, std::size_t bytes) {
  PlanRequest request;
  request.bytes = bytes;
  return Planner(network).plan(request).layout.algorithm;
}

TEST(Planner, ExchangesBetweenOneOrTwoSites) {
  for (const std::size_t bytes : {std::size_t{4}, kMiB, 1024 * kMiB}) {
    EXPECT_EQ(choice(sites(1), bytes), AllreduceAlgorithm::kExchange);
    EXPECT_EQ(choice(sites(2), bytes), AllreduceAlgorithm::kExchange);
  }
}

TEST(Planner, ExchangesSmallMessagesAndOwnsLargeOnes) {
  EXPECT_EQ(choice(sites(4), 1024), AllreduceAlgorithm::kExchange);
  EXPECT_EQ(choice(sites(4), 64 * kMiB), AllreduceAlgorithm::kDirect);
  EXPECT_EQ(choice(sites(16), 1024), AllreduceAlgorithm::kExchange);
  EXPECT_EQ(choice(sites(16), kMiB), AllreduceAlgorithm::kDirect);
}

// A message to each costs more than the trips of a tree where there are many sites near each other.
TEST(Planner, TakesATreeWhereMessagesCostMoreThanTrips) {
  EXPECT_EQ(choice(sites(1024, 1'250'000'000, 500), 1024), AllreduceAlgorithm::kTree);
}

TEST(Planner, TimeIsNotBelowTheBound) {
  for (int count = 2; count <= 20; ++count) {
    Network network = sites(count);
    network.sites[1].up_bytes_per_sec /= 3;
    const Planner planner(network);
    for (const std::size_t bytes : {kMiB, 64 * kMiB}) {
      PlanRequest request;
      request.bytes = bytes;
      const AllreducePlan best = planner.plan(request);
      for (const AllreducePlan& plan : planner.candidates(request)) {
        EXPECT_GE(plan.estimate.time(), plan.estimate.lower_bound);
        EXPECT_DOUBLE_EQ(plan.estimate.lower_bound, allreduce_lower_bound(network, static_cast<std::int64_t>(bytes)));
        EXPECT_LE(best.estimate.time(), plan.estimate.time() / 0.98 / 0.98);
      }
    }
  }
}

TEST(Planner, UnevenLinesGetUnequalShares) {
  Network network = sites(4);
  network.sites[3].up_bytes_per_sec = network.sites[3].down_bytes_per_sec = 12'500'000 / 4;
  const Planner planner(network);
  PlanRequest request;
  request.bytes = 64 * kMiB;
  const AllreducePlan plan = planner.plan(request);
  ASSERT_EQ(plan.layout.algorithm, AllreduceAlgorithm::kDirect);
  EXPECT_EQ(plan.layout.owner_weights[3], 0u);
  EXPECT_LE(plan.estimate.time(), 1.02 * plan.estimate.lower_bound);
  request.equal_shares = true;
  request.algorithm = AllreduceAlgorithm::kDirect;
  EXPECT_NEAR(planner.plan(request).estimate.time() / plan.estimate.time(), 1.5, 0.03);
}

TEST(Planner, NearlyEqualLinesAreEqual) {
  Network network = sites(5);
  network.sites[2].up_bytes_per_sec = network.sites[2].up_bytes_per_sec * 99 / 100;
  EXPECT_TRUE(Planner(network).owner_weights().empty());
}

TEST(Planner, AForcedAlgorithmIsTaken) {
  const Planner planner(sites(6));
  for (int i = 0; i < kAllreduceAlgorithmCount; ++i) {
    PlanRequest request;
    request.bytes = kMiB;
    request.algorithm = static_cast<AllreduceAlgorithm>(i);
    EXPECT_EQ(planner.plan(request).layout.algorithm, *request.algorithm);
  }
}

TEST(Planner, HalvesInARingTakeHalfAsMuchAgain) {
  const Planner planner(sites(4));
  PlanRequest request;
  request.bytes = 64 * kMiB;
  request.algorithm = AllreduceAlgorithm::kRing;
  const double floats = planner.plan(request).estimate.transfer;
  request.type = DataType::kFloat16;
  EXPECT_NEAR(planner.plan(request).estimate.transfer / floats, 1.5, 0.01);
}

TEST(Planner, ANarrowPathCounts) {
  Network network = sites(4);
  PlanRequest request;
  request.bytes = 64 * kMiB;
  network.path(0, 1).bytes_per_sec = 1'000'000;
  const Planner planner(network);
  EXPECT_EQ(planner.plan(request).layout.algorithm, AllreduceAlgorithm::kRing);  // which goes around it
  request.algorithm = AllreduceAlgorithm::kDirect;
  EXPECT_GE(planner.plan(request).estimate.time(), 64.0 * kMiB / 2 / 1'000'000);
}

TEST(Planner, ChunksAreAsLargeAsTheOptionAdmitsAtMost) {
  PlanRequest request;
  request.bytes = 64 * kMiB;
  request.max_chunk_bytes = 128 * 1024;
  EXPECT_LE(Planner(sites(4)).plan(request).chunk_bytes, 128u * 1024);
  request.max_chunk_bytes = 4096;
  EXPECT_EQ(Planner(sites(4)).plan(request).chunk_bytes, 4096u);
}

TEST(Planner, EveryRankPlansAlike) {
  Network network = sites(7);
  network.sites[5].down_bytes_per_sec = 3'333'333;
  const Planner one(network), other(Network::decode(network.encode()).value());
  for (std::size_t bytes = 4; bytes < 100 * kMiB; bytes = bytes * 3 + 4) {
    PlanRequest request;
    request.bytes = bytes;
    const AllreducePlan a = one.plan(request), b = other.plan(request);
    EXPECT_EQ(a.layout.algorithm, b.layout.algorithm);
    EXPECT_EQ(a.layout.owner_weights, b.layout.owner_weights);
    EXPECT_EQ(a.layout.site_order, b.layout.site_order);
    EXPECT_EQ(a.chunk_bytes, b.chunk_bytes);
  }
}

}  // namespace
}  // namespace isthmus
