#include "collectives/plan/allreduce_load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/schedule/allreduce.h"
#include "tests/support/schedule_check.h"

namespace isthmus {
namespace {

constexpr std::size_t kCount = 12'000;

AllreduceLayout layout_for(AllreduceAlgorithm algorithm, int sites) {
  AllreduceLayout layout{algorithm, {}, {}};
  for (int site = 0; site < sites; ++site) {
    layout.owner_weights.push_back(static_cast<std::uint32_t>(1 + (site * 7) % 3));
    layout.site_order.push_back((site * 5 + 2) % sites);
  }
  if (sites % 5 == 0) std::iota(layout.site_order.begin(), layout.site_order.end(), 0);  // 5 is no step around then
  return layout;
}

std::vector<Schedule> schedules_of(const AllreduceLayout& layout, const SiteMap& sites, DataType type) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < sites.size(); ++rank) {
    AllreduceRequest request{
        .rank = rank, .count = kCount, .type = type, .algorithm = layout.algorithm, .chunk_bytes = 1024};
    request.owner_weights = layout.owner_weights;
    request.site_order = layout.site_order;
    schedules.push_back(build_allreduce(sites, request));
  }
  return schedules;
}

// Sites of two ranks, so that partials of halves are fp32 everywhere.
SiteMap pairs_of_ranks(int sites) {
  std::vector<int> site_of_rank;
  for (int rank = 0; rank < 2 * sites; ++rank) site_of_rank.push_back(rank / 2);
  return SiteMap(site_of_rank);
}

// [to][from], bytes.
std::vector<std::vector<double>> traffic(const std::vector<Schedule>& schedules, const SiteMap& sites) {
  const auto count = static_cast<std::size_t>(sites.site_count());
  std::vector<std::vector<double>> bytes(count, std::vector<double>(count, 0));
  for (int rank = 0; rank < sites.size(); ++rank) {
    for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps) {
      if (step.kind != StepKind::kSend) continue;
      const int to = sites.site_of(static_cast<int>(step.peer)), from = sites.site_of(rank);
      if (to != from)
        bytes[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)] += static_cast<double>(step.bytes);
    }
  }
  return bytes;
}

TEST(AllreduceLoad, IsWhatTheSchedulesSend) {
  for (int sites = 2; sites <= 11; ++sites) {
    const SiteMap map = pairs_of_ranks(sites);
    for (int a = 0; a < kAllreduceAlgorithmCount; ++a) {
      const AllreduceLayout layout = layout_for(static_cast<AllreduceAlgorithm>(a), sites);
      const std::vector<SiteLoad> loads = site_loads(layout);
      for (const DataType type : {DataType::kFloat32, DataType::kFloat16}) {
        SCOPED_TRACE(
            fmt::format("{} sites, {}, {}", sites, allreduce_algorithm_name(layout.algorithm), dtype_name(type)));
        const double size = static_cast<double>(kCount * dtype_size_bytes(type)), wide = is_half(type) ? 1 : 0;
        const auto bytes = traffic(schedules_of(layout, map, type), map);
        const double rounding = 16.0 * 4 * sites;  // an element per block and shard
        for (std::size_t site = 0; site < loads.size(); ++site) {
          double up = 0, down = 0;
          for (std::size_t other = 0; other < loads.size(); ++other) {
            up += bytes[other][site];
            down += bytes[site][other];
            if (is_half(type) || other == site) continue;
            EXPECT_NEAR(bytes[other][site], size * pair_load(layout, static_cast<int>(site), static_cast<int>(other)),
                        rounding)
                << "from " << site << " to " << other;
          }
          EXPECT_NEAR(up, size * (loads[site].up + wide * loads[site].wide_up), rounding) << "site " << site;
          EXPECT_NEAR(down, size * (loads[site].down + wide * loads[site].wide_down), rounding) << "site " << site;
        }
      }
    }
  }
}

// On equal delays the longest way is the number of one-way trips of the schedules.
TEST(AllreduceLoad, WayIsTheTripsOfTheSchedules) {
  for (int sites = 1; sites <= 17; ++sites) {
    std::vector<int> site_of_rank(static_cast<std::size_t>(sites));
    std::iota(site_of_rank.begin(), site_of_rank.end(), 0);
    const SiteMap map(site_of_rank);
    const Network network = uniform_network(sites, 1, {}, {1000});
    for (int a = 0; a < kAllreduceAlgorithmCount; ++a) {
      const AllreduceLayout layout = layout_for(static_cast<AllreduceAlgorithm>(a), sites);
      SCOPED_TRACE(fmt::format("{} sites, {}", sites, allreduce_algorithm_name(layout.algorithm)));
      EXPECT_EQ(longest_way_us(network, layout),
                1000 * testing::wan_trips(schedules_of(layout, map, DataType::kFloat32), map));
    }
  }
}

TEST(AllreduceLoad, WayFollowsTheSlowestDelays) {
  Network network = uniform_network(3, 1, {}, {10});
  network.path(0, 1).delay_us = 100;
  network.path(2, 0).delay_us = 1000;
  AllreduceLayout layout{AllreduceAlgorithm::kExchange, {1, 1, 1}, {0, 1, 2}};
  EXPECT_EQ(longest_way_us(network, layout), 1000);
  layout.algorithm = AllreduceAlgorithm::kDirect;
  EXPECT_EQ(longest_way_us(network, layout), 1000 + 100);  // by owner 0
  layout.owner_weights = {0, 1, 1};
  EXPECT_EQ(longest_way_us(network, layout), 10 + 1000);  // by owner 2
}

}  // namespace
}  // namespace isthmus
