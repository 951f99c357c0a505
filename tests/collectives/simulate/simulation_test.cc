#include "collectives/simulate/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/schedule/all_gather.h"
#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/barrier.h"
#include "tests/support/schedule_check.h"

namespace isthmus {
namespace {

SiteMap uneven_sites() { return SiteMap({0, 0, 1, 2, 2, 2, 3}); }

TEST(Simulation, SendsTheBytesOfTheSchedules) {
  const SiteMap sites = uneven_sites();
  const Network network = uniform_network(4, 1, {"", 1, 12'500'000, 12'500'000}, {30'000});
  for (int a = 0; a < kAllreduceAlgorithmCount; ++a) {
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < sites.size(); ++rank)
      schedules.push_back(
          build_allreduce(sites, {.rank = rank, .count = 300'001, .algorithm = static_cast<AllreduceAlgorithm>(a)}));
    const auto result =
        simulate_schedules(network, sites, [&](int rank) { return schedules[static_cast<std::size_t>(rank)]; });
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    const std::vector<std::size_t> sent = testing::wan_bytes_sent(schedules, sites);
    for (std::size_t site = 0; site < sent.size(); ++site) {
      EXPECT_GE(result->wan_bytes_sent[site], static_cast<std::int64_t>(sent[site]));
      EXPECT_LE(result->wan_bytes_sent[site], static_cast<std::int64_t>(sent[site] + 96 * result->wan_messages));
    }
    const std::size_t steps = std::accumulate(schedules.begin(), schedules.end(), std::size_t{0},
                                              [](std::size_t sum, const Schedule& s) { return sum + s.steps.size(); });
    EXPECT_EQ(result->steps, steps);
    EXPECT_GE(result->seconds, 0.03 * testing::wan_trips(schedules, sites));
  }
}

TEST(Simulation, ABarrierIsOneTrip) {
  const SiteMap sites = uneven_sites();
  const Network network = uniform_network(4, 1, {}, {30'000});
  const auto result = simulate_schedules(network, sites, [&](int rank) { return build_barrier(sites, rank); });
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_NEAR(result->seconds, 0.03, 1e-3);
}

TEST(Simulation, AnAllGatherTakesItsBytes) {
  const SiteMap sites({0, 1, 2});
  const Network network = uniform_network(3, 1, {"", 1, 1'000'000, 1'000'000}, {10'000});
  const std::vector<std::size_t> block_bytes(3, 1'000'000);
  const auto result =
      simulate_schedules(network, sites, [&](int rank) { return build_all_gather(sites, {rank, block_bytes, 65536}); });
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_NEAR(result->seconds, 2.01, 0.05);
}

TEST(Simulation, HasOneCourse) {
  const SiteMap sites = uneven_sites();
  const Network network = uniform_network(4, 1, {"", 1, 12'500'000, 12'500'000}, {30'000});
  const auto run = [&] {
    return simulate_schedules(network, sites,
                              [&](int rank) {
                                return build_allreduce(
                                    sites, {.rank = rank, .count = 100'000, .algorithm = AllreduceAlgorithm::kRing});
                              })
        .value()
        .seconds;
  };
  EXPECT_EQ(run(), run());
}

TEST(Simulation, SaysWhichSchedulesNeverEnd) {
  const SiteMap sites({0, 1});
  const Network network = uniform_network(2, 1, {}, {1000});
  const auto result = simulate_schedules(network, sites, [&](int rank) {
    Schedule schedule = build_allreduce(sites, {.rank = rank, .count = 10});
    if (rank == 1) schedule.steps.clear();
    return schedule;
  });
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
  EXPECT_THAT(result.status().message(), ::testing::HasSubstr("never end"));
}

TEST(Simulation, RefusesAnotherNetwork) {
  const SiteMap sites({0, 1});
  EXPECT_FALSE(simulate_schedules(uniform_network(3, 1, {}, {}), sites, [](int) { return Schedule(); }).ok());
}

}  // namespace
}  // namespace isthmus
