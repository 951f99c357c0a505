#include "collectives/schedule/gather.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collectives/schedule/world.h"
#include "tests/support/schedule_check.h"

namespace isthmus::testing {
namespace {

using Build = Schedule (*)(const RootedRequest&);

BuildSchedule builder_of(Build build, const RootedRequest& request) {
  return [build, request](int rank) {
    RootedRequest own = request;
    own.rank = rank;
    return build(own);
  };
}

std::size_t total_of(const std::vector<std::size_t>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0});
}

std::vector<RootedRequest> requests_for(const Shape& shape) {
  std::vector<RootedRequest> requests;
  const SiteMap sites = shape.sites();
  int root = 0;
  for (const std::size_t bytes : lengths_for(shape, 97))
    requests.push_back({0, root++ % sites.size(), equal_blocks(sites, bytes)});
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    requests.push_back({0, root++ % sites.size(), uneven_blocks(sites, 50, seed)});
  return requests;
}

TEST(Gather, TheRootHasAllBlocksInRankOrder) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const RootedRequest& request : requests_for(shape)) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(
            fmt::format("{} root {} {} {}", shape.name, request.root, fmt::join(request.block_bytes, "+"), in_place));
        std::vector<Buffer> inputs;
        std::vector<BufferLayout> layouts;
        Buffer expected;
        for (std::size_t rank = 0; rank < request.block_bytes.size(); ++rank) {
          const std::size_t bytes = request.block_bytes[rank], total = total_of(request.block_bytes);
          inputs.push_back(random_bits(bytes, ++seed));
          layouts.push_back(BufferLayout::apart(bytes, static_cast<int>(rank) == request.root ? total : 0));
          if (in_place && static_cast<int>(rank) == request.root) layouts.back() = {expected.size(), bytes, 0, total};
          expected.insert(expected.end(), inputs.back().begin(), inputs.back().end());
        }
        const auto outputs = run_world(shape.sites(), layouts, builder_of(build_gather, request), inputs, seed);
        ASSERT_EQ(outputs[static_cast<std::size_t>(request.root)], expected);
      }
    }
  }
}

TEST(Scatter, EveryRankHasItsBlock) {
  std::uint64_t seed = 1;
  for (const Shape& shape : all_shapes()) {
    for (const RootedRequest& request : requests_for(shape)) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(
            fmt::format("{} root {} {} {}", shape.name, request.root, fmt::join(request.block_bytes, "+"), in_place));
        const std::size_t total = total_of(request.block_bytes);
        const Buffer all = random_bits(total, ++seed);
        std::vector<Buffer> inputs(request.block_bytes.size()), expected;
        inputs[static_cast<std::size_t>(request.root)] = all;
        std::vector<BufferLayout> layouts;
        std::size_t begin = 0;
        for (std::size_t rank = 0; rank < request.block_bytes.size(); ++rank) {
          const std::size_t bytes = request.block_bytes[rank];
          const bool is_root = static_cast<int>(rank) == request.root;
          layouts.push_back(BufferLayout::apart(is_root ? total : 0, bytes));
          if (in_place && is_root) layouts.back() = {0, total, begin, bytes};
          expected.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                all.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
          begin += bytes;
        }
        ASSERT_EQ(run_world(shape.sites(), layouts, builder_of(build_scatter, request), inputs, seed), expected);
      }
    }
  }
}

TEST(Gather, BlocksCrossTheWanOnceInOneTrip) {
  const SiteMap sites({0, 0, 1, 1, 1, 2});
  const RootedRequest request{0, 1, equal_blocks(sites, 100)};
  const auto gathered = build_all(sites, builder_of(build_gather, request));
  EXPECT_EQ(wan_bytes_sent(gathered, sites), (std::vector<std::size_t>{0, 300, 100}));
  EXPECT_EQ(wan_trips(gathered, sites), 1);
  const auto scattered = build_all(sites, builder_of(build_scatter, request));
  EXPECT_EQ(wan_bytes_sent(scattered, sites), (std::vector<std::size_t>{400, 0, 0}));
  EXPECT_EQ(wan_trips(scattered, sites), 1);
}

}  // namespace
}  // namespace isthmus::testing
