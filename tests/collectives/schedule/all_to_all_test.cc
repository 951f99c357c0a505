#include "collectives/schedule/all_to_all.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

BuildSchedule builder_of(const SiteMap& sites, const AllToAllRequest& request) {
  return [&sites, request](int rank) {
    AllToAllRequest own = request;
    own.rank = rank;
    return build_all_to_all(sites, own);
  };
}

void run_and_compare(const Shape& shape, const AllToAllRequest& request, std::uint64_t seed) {
  SCOPED_TRACE(
      fmt::format("{} bytes {} {}", shape.name, request.block_bytes, all_to_all_algorithm_name(request.algorithm)));
  const SiteMap sites = shape.sites();
  const auto ranks = static_cast<std::size_t>(sites.size());
  const std::size_t bytes = request.block_bytes;
  std::vector<Buffer> inputs, expected(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) inputs.push_back(random_bits(ranks * bytes, seed * 100 + rank));
  for (std::size_t to = 0; to < ranks; ++to) {
    for (const Buffer& input : inputs) {
      const auto begin = input.begin() + static_cast<std::ptrdiff_t>(to * bytes);
      expected[to].insert(expected[to].end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
  }
  const std::vector<BufferLayout> layouts(ranks, BufferLayout::apart(ranks * bytes, ranks * bytes));
  ASSERT_EQ(run_world(sites, layouts, builder_of(sites, request), inputs, seed), expected);
}

TEST(AllToAll, EveryShapeLengthAndAlgorithm) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const std::size_t bytes : {0, 1, 3, 17}) {
      for (const AllToAllAlgorithm algorithm : {AllToAllAlgorithm::kPairwise, AllToAllAlgorithm::kStaged}) {
        run_and_compare(shape, {.block_bytes = bytes, .algorithm = algorithm}, ++seed);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(AllToAll, BothSendTheSameBytesInOneTripAndStagedOneMessagePerPairOfSites) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  for (const AllToAllAlgorithm algorithm : {AllToAllAlgorithm::kPairwise, AllToAllAlgorithm::kStaged}) {
    const auto schedules = build_all(sites, builder_of(sites, {.block_bytes = 10, .algorithm = algorithm}));
    EXPECT_EQ(wan_bytes_sent(schedules, sites), (std::vector<std::size_t>{2 * 4 * 10, 3 * 3 * 10, 1 * 5 * 10}));
    EXPECT_EQ(wan_trips(schedules, sites), 1);
    int messages = 0;
    for (int rank = 0; rank < sites.size(); ++rank)
      for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps)
        if (step.kind == StepKind::kSend && sites.site_of(static_cast<int>(step.peer)) != sites.site_of(rank))
          ++messages;
    EXPECT_EQ(messages, algorithm == AllToAllAlgorithm::kStaged ? 6 : 2 * (2 * 3 + 2 * 1 + 3 * 1));
  }
}

TEST(AllToAll, StagedSpreadsTheSitesOverTheRanks) {
  Shape shape{"5x4", {}};
  for (int rank = 0; rank < 20; ++rank) shape.site_of_rank.push_back(rank / 4);
  const SiteMap sites = shape.sites();
  const auto schedules =
      build_all(sites, builder_of(sites, {.block_bytes = 8, .algorithm = AllToAllAlgorithm::kStaged}));
  for (int rank = 0; rank < 20; ++rank) {
    int messages = 0;
    for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps)
      if (step.kind == StepKind::kSend && sites.site_of(static_cast<int>(step.peer)) != sites.site_of(rank)) ++messages;
    EXPECT_EQ(messages, 1) << "rank " << rank;
  }
}

TEST(AllToAll, TheAlgorithmIsChosenBySize) {
  const SiteMap wide({0, 0, 1, 1}), narrow({0, 1, 2});
  const auto chosen = [](std::string_view option, const SiteMap& sites, std::size_t bytes) {
    return *parse_all_to_all_algorithm(option, sites, bytes);
  };
  EXPECT_EQ(chosen("auto", wide, 16384), AllToAllAlgorithm::kStaged);
  EXPECT_EQ(chosen("auto", wide, 16385), AllToAllAlgorithm::kPairwise);
  EXPECT_EQ(chosen("auto", narrow, 1), AllToAllAlgorithm::kPairwise);
  EXPECT_EQ(chosen("auto", SiteMap({0, 0}), 1), AllToAllAlgorithm::kPairwise);
  EXPECT_EQ(chosen("staged", wide, 1 << 20), AllToAllAlgorithm::kStaged);
  EXPECT_FALSE(parse_all_to_all_algorithm("bruck", wide, 1).ok());
}

TEST(AllToAllV, BlocksOfAnySize) {
  for (const Shape& shape : all_shapes()) {
    const SiteMap sites = shape.sites();
    const auto ranks = static_cast<std::size_t>(sites.size());
    std::vector<std::vector<std::size_t>> sizes;  // by sender, by receiver
    for (std::size_t rank = 0; rank < ranks; ++rank) sizes.push_back(uneven_blocks(sites, 40, rank + 7));
    std::vector<Buffer> inputs, expected(ranks);
    std::vector<BufferLayout> layouts;
    std::vector<AllToAllVRequest> requests;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      AllToAllVRequest request{static_cast<int>(rank), sizes[rank], {}};
      for (std::size_t from = 0; from < ranks; ++from) request.recv_bytes.push_back(sizes[from][rank]);
      const auto sum = [](const auto& all) { return std::accumulate(all.begin(), all.end(), std::size_t{0}); };
      inputs.push_back(random_bits(sum(request.send_bytes), rank));
      layouts.push_back(BufferLayout::apart(sum(request.send_bytes), sum(request.recv_bytes)));
      requests.push_back(std::move(request));
    }
    for (std::size_t from = 0; from < ranks; ++from) {
      auto at = inputs[from].begin();
      for (std::size_t to = 0; to < ranks; ++to) {
        const auto end = at + static_cast<std::ptrdiff_t>(sizes[from][to]);
        expected[to].insert(expected[to].end(), at, end);
        at = end;
      }
    }
    const auto build = [&](int rank) { return build_all_to_all_v(sites, requests[static_cast<std::size_t>(rank)]); };
    ASSERT_EQ(run_world(sites, layouts, build, inputs, 5), expected) << shape.name;
  }
}

}  // namespace
}  // namespace isthmus::testing
