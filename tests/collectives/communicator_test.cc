// Collectives of whole worlds of threads against a scalar reference, over every shape of sites.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/support/world.h"

namespace isthmus {
namespace {

using Int64s = std::vector<std::int64_t>;

std::int64_t value_of(int rank, std::size_t i) {
  return static_cast<std::int64_t>((i * 2654435761u + static_cast<std::size_t>(rank) * 40503u) % 1000003u) - 500000;
}

Int64s input_of(int rank, std::size_t count, std::size_t first = 0) {
  Int64s values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, first + i);
  return values;
}

Int64s sum_of(int ranks, std::size_t count, std::size_t first = 0) {
  Int64s values(count, 0);
  for (int r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < count; ++i) values[i] += value_of(r, first + i);
  return values;
}

struct Case {
  const char* name;
  std::vector<int> ranks_per_site;
  bool interleave;
  const char* algorithm;
};

class Worlds : public testing::TestWithParam<Case> {
 protected:
  WorldOptions options() const {
    WorldOptions world = world_of_small_steps(GetParam().ranks_per_site, GetParam().interleave);
    world.options.algorithm = GetParam().algorithm;
    return world;
  }
};

TEST_P(Worlds, EveryCollectiveAtAwkwardLengths) {
  run_world(options(), [](WorldRank& self) {
    const auto p = static_cast<std::size_t>(self.size());
    Communicator& c = *self.communicator;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{50021}}) {
      Int64s in = input_of(self.rank, count), out(count, -1);
      ASSERT_TRUE(wait_for(c.allreduce(in.data(), out.data(), count, DataType::kInt64, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(out, sum_of(self.size(), count)) << "allreduce of " << count;
      ASSERT_TRUE(wait_for(c.allreduce(in.data(), in.data(), count, DataType::kInt64, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(in, out) << "in place, " << count;

      const int root = static_cast<int>(count % p);
      Int64s buffer = input_of(self.rank, count);
      ASSERT_TRUE(wait_for(c.broadcast(buffer.data(), count, DataType::kInt64, root, {})).ok());
      EXPECT_EQ(buffer, input_of(root, count)) << "broadcast of " << count;

      const Int64s block = input_of(self.rank, count);
      Int64s all(count * p, -1), expected;
      ASSERT_TRUE(wait_for(c.all_gather(block.data(), all.data(), count, DataType::kInt64, {})).ok());
      for (int r = 0; r < self.size(); ++r) {
        const Int64s theirs = input_of(r, count);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      EXPECT_EQ(all, expected) << "all_gather of " << count;

      const Int64s whole = input_of(self.rank, count * p);
      Int64s mine(count, -1);
      ASSERT_TRUE(
          wait_for(c.reduce_scatter(whole.data(), mine.data(), count, DataType::kInt64, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(mine, sum_of(self.size(), count, count * static_cast<std::size_t>(self.rank)))
          << "reduce_scatter of " << count;
      ASSERT_TRUE(wait_for(c.barrier({})).ok());
    }
  });
}

TEST_P(Worlds, FloatsHaveTheSameBytesEverywhere) {
  WorldOptions world = options();
  const auto ranks = static_cast<std::size_t>(world_sites(world).size());
  constexpr std::size_t kCount = 30011;
  std::vector<std::vector<float>> results(ranks, std::vector<float>(kCount));
  run_world(world, [&](WorldRank& self) {
    std::mt19937 random(static_cast<unsigned>(self.rank) + 1);
    std::normal_distribution<float> normal;
    std::vector<float> in(kCount);
    for (float& x : in) x = normal(random) * 1e3f;
    auto& out = results[static_cast<std::size_t>(self.rank)];
    ASSERT_TRUE(
        wait_for(self.communicator->allreduce(in.data(), out.data(), kCount, DataType::kFloat32, ReduceOp::kAvg, {}))
            .ok());
  });
  for (const auto& result : results)
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), kCount * sizeof(float)), 0);
}

TEST_P(Worlds, ManyInFlightWaitedInReverse) {
  run_world(options(), [](WorldRank& self) {
    constexpr int kOperations = 64;
    std::vector<Int64s> buffers;
    std::vector<std::shared_ptr<Work>> works;
    for (int i = 0; i < kOperations; ++i)
      buffers.push_back(input_of(self.rank, 100u + static_cast<std::size_t>(i) * 37));
    for (Int64s& buffer : buffers) {
      auto work = self.communicator->allreduce(buffer.data(), buffer.data(), buffer.size(), DataType::kInt64,
                                               ReduceOp::kSum, {});
      ASSERT_TRUE(work.ok()) << work.status().to_string();
      works.push_back(*work);
    }
    for (int i = kOperations - 1; i >= 0; --i) {
      const auto index = static_cast<std::size_t>(i);
      ASSERT_TRUE(works[index]->wait(std::chrono::seconds(60)).ok());
      EXPECT_EQ(buffers[index], sum_of(self.size(), buffers[index].size()));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Worlds,
    testing::Values(Case{"OneRank", {1}, false, "auto"}, Case{"OneSite", {4}, false, "auto"},
                    Case{"TwoSites", {1, 1}, false, "auto"}, Case{"TwoByThreeInterleaved", {3, 3}, true, "auto"},
                    Case{"ThreeByTwo", {2, 2, 2}, false, "auto"}, Case{"ThreeByTwoRing", {2, 2, 2}, false, "ring"},
                    Case{"Uneven", {1, 3, 2}, false, "auto"}, Case{"UnevenInterleavedRing", {3, 1, 2}, true, "ring"},
                    Case{"FiveTree", {1, 2, 1, 1, 2}, false, "tree"},
                    Case{"FourExchange", {1, 1, 1, 1}, false, "exchange"},
                    Case{"EightSites", {1, 1, 1, 1, 1, 1, 1, 1}, false, "direct"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PointToPoint, BothDirectionsTagsAndOrder) {
  WorldOptions world;
  world.ranks_per_site = {2, 1};
  run_world(world, [](WorldRank& self) {
    if (self.rank == 1) return;  // 0 and 2 are in different sites; 1 does not take part
    const int peer = 2 - self.rank;
    Communicator& c = *self.communicator;
    std::vector<std::vector<std::int32_t>> out, in;
    std::vector<std::shared_ptr<Work>> works;
    for (int i = 0; i < 4; ++i) {
      out.emplace_back(200000, self.rank * 10 + i);
      in.emplace_back(200000, -1);
    }
    for (int i = 0; i < 4; ++i)
      works.push_back(*c.send(out[static_cast<std::size_t>(i)].data(), 200000, DataType::kInt32, peer,
                              {{}, static_cast<std::uint32_t>(i % 2)}));
    for (const int i : {1, 0, 3, 2})  // tags are matched in the order of each tag
      works.push_back(*c.receive(in[static_cast<std::size_t>(i)].data(), 200000, DataType::kInt32, peer,
                                 {{}, static_cast<std::uint32_t>(i % 2)}));
    for (const auto& work : works) ASSERT_TRUE(work->wait(std::chrono::seconds(60)).ok());
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(in[static_cast<std::size_t>(i)], std::vector<std::int32_t>(200000, peer * 10 + i));
  });
}

TEST(PointToPoint, OneTagToSeveralPeersAtOnce) {
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    std::vector<std::vector<std::int32_t>> buffers;
    std::vector<std::shared_ptr<Work>> works;
    for (int peer = 0; peer < self.size(); ++peer) buffers.emplace_back(3000, self.rank * 10 + peer);
    std::vector<std::vector<std::int32_t>> got(buffers.size(), std::vector<std::int32_t>(3000, -1));
    for (int peer = 0; peer < self.size(); ++peer) {
      if (peer == self.rank) continue;
      const auto index = static_cast<std::size_t>(peer);
      works.push_back(*c.send(buffers[index].data(), 3000, DataType::kInt32, peer, {}));
      works.push_back(*c.receive(got[index].data(), 3000, DataType::kInt32, peer, {}));
    }
    for (const auto& work : works) ASSERT_TRUE(work->wait(std::chrono::seconds(60)).ok());
    for (int peer = 0; peer < self.size(); ++peer) {
      if (peer == self.rank) continue;
      EXPECT_EQ(got[static_cast<std::size_t>(peer)], std::vector<std::int32_t>(3000, peer * 10 + self.rank));
    }
  });
}

TEST(Split, TwoColoursAndNone) {
  WorldOptions world;
  world.ranks_per_site = {2, 2, 1};
  run_world(world, [](WorldRank& self) {
    const int color = self.rank == 4 ? -1 : self.rank % 2;
    auto child = self.communicator->split(color, -self.rank, {});
    ASSERT_TRUE(child.ok()) << child.status().to_string();
    if (color < 0) {
      EXPECT_EQ(*child, nullptr);
    } else {
      Communicator& c = **child;
      EXPECT_EQ(c.size(), 2);
      EXPECT_EQ(c.rank(), self.rank < 2 ? 1 : 0);  // ordered by key: the larger parent rank first
      std::int64_t value = self.rank;
      ASSERT_TRUE(wait_for(c.allreduce(&value, &value, 1, DataType::kInt64, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(value, color == 0 ? 2 : 4);
    }
    ASSERT_TRUE(wait_for(self.communicator->barrier({})).ok());
  });
}

TEST(Mistakes, SH_03_DifferentSizesRaiseOnEveryRankAndNameBoth) {
  WorldOptions world;
  world.ranks_per_site = {2, 2, 1};
  world.options.timeout_ms = 20'000;
  run_world(world, [](WorldRank& self) {
    const std::size_t count = self.rank == 0 ? 409600 : 409598;
    std::vector<float> buffer(count, 1.0f);
    const Status status = wait_for(
        self.communicator->allreduce(buffer.data(), buffer.data(), count, DataType::kFloat32, ReduceOp::kSum, {}));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_NE(status.message().find("409600"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("409598"), std::string::npos) << status.message();
    EXPECT_FALSE(self.communicator->status().ok());
    const Status later = wait_for(self.communicator->barrier({}));
    EXPECT_NE(later.message().find("409600"), std::string::npos) << later.message();
  });
}

TEST(Mistakes, SH_05_DifferentRootsRaiseAtTheNextOperationAtTheLatest) {
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  world.options.timeout_ms = 5'000;
  run_world(world, [](WorldRank& self) {
    std::int32_t values[4] = {self.rank, 1, 2, 3};
    Status status = wait_for(self.communicator->broadcast(values, 4, DataType::kInt32, self.rank == 1 ? 1 : 0, {}));
    for (int i = 0; i < 50 && status.ok(); ++i) status = wait_for(self.communicator->barrier({}));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_NE(status.message().find("root"), std::string::npos) << status.message();
  });
}

TEST(Mistakes, AnAbsentRankIsNamedAtTheTimeout) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  run_world(world, [](WorldRank& self) {
    if (self.rank == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(800));
      return;
    }
    std::int32_t value = 1;
    CallOptions options;
    options.timeout = std::chrono::milliseconds(300);
    const Status status =
        wait_for(self.communicator->allreduce(&value, &value, 1, DataType::kInt32, ReduceOp::kSum, options));
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_NE(status.message().find("rank 2 (site site2)"), std::string::npos) << status.message();
  });
}

TEST(Mistakes, BadArgumentsAreRefusedAndLeaveTheCommunicatorUsable) {
  WorldOptions world;
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    float buffer[4] = {};
    EXPECT_EQ(c.allreduce(nullptr, buffer, 4, DataType::kFloat32, ReduceOp::kSum, {}).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(c.allreduce(buffer, buffer + 1, 3, DataType::kFloat32, ReduceOp::kSum, {}).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(c.allreduce(buffer, buffer, SIZE_MAX, DataType::kFloat32, ReduceOp::kSum, {}).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(c.allreduce(buffer, buffer, 4, DataType::kBool, ReduceOp::kAvg, {}).status().code(),
              StatusCode::kUnsupported);
    EXPECT_EQ(c.broadcast(buffer, 4, DataType::kFloat32, 2, {}).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(c.send(buffer, 4, DataType::kFloat32, self.rank, {}).status().code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(wait_for(c.barrier({})).ok());
  });
}

// Two sites of three ranks: each site sends what it has summed once, whether ranks are numbered site by site or in
// turn.
TEST(Hierarchy, WA_05_ABufferCrossesTheWanOnceHoweverRanksAreNumbered) {
  constexpr std::size_t kCount = 1 << 19;
  constexpr double kBytes = kCount * sizeof(std::int64_t);
  for (const bool interleave : {false, true}) {
    WorldOptions world;
    world.ranks_per_site = {3, 3};
    world.interleave = interleave;
    const std::vector<int> sites = world_sites(world);
    std::atomic<std::uint64_t> sent_bytes[2] = {0, 0};
    run_world(world, [&](WorldRank& self) {
      std::vector<std::int64_t> values(kCount), expected(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        values[i] = static_cast<std::int64_t>(i) * (self.rank + 1);
        expected[i] = static_cast<std::int64_t>(i) * (1 + 2 + 3 + 4 + 5 + 6);
      }
      const Status status = wait_for(
          self.communicator->allreduce(values.data(), values.data(), kCount, DataType::kInt64, ReduceOp::kSum, {}));
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(values, expected);
      sent_bytes[sites[static_cast<std::size_t>(self.rank)]] += self.runtime->counters().wan.sent_bytes.value();
    });
    for (const auto& bytes : sent_bytes) {
      EXPECT_GE(static_cast<double>(bytes), kBytes);
      EXPECT_LE(static_cast<double>(bytes), 1.1 * kBytes);
    }
  }
}

TEST(Abort, ReachesEveryRankWithItsReason) {
  WorldOptions world;
  world.ranks_per_site = {2, 1};
  run_world(world, [](WorldRank& self) {
    std::int32_t value = 1;
    if (self.rank == 1) {
      EXPECT_TRUE(self.communicator->abort("the user said so").ok());
      EXPECT_EQ(wait_for(self.communicator->barrier({})).code(), StatusCode::kAborted);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return;
    }
    const Status status =
        wait_for(self.communicator->allreduce(&value, &value, 1, DataType::kInt32, ReduceOp::kSum, {}));
    EXPECT_EQ(status.code(), StatusCode::kAborted) << status.to_string();
    EXPECT_NE(status.message().find("the user said so"), std::string::npos) << status.message();
  });
}

TEST(Lifecycle, EL_04_RanksThatFinishInAnyOrderDisturbNobody) {
  for (int round = 0; round < 10; ++round) {
    WorldOptions world;
    world.ranks_per_site = {2, 2, 1};
    run_world(world, [round](WorldRank& self) {
      std::int64_t value = self.rank;
      ASSERT_TRUE(wait_for(self.communicator->allreduce(&value, &value, 1, DataType::kInt64, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(value, 10);
      std::this_thread::sleep_for(std::chrono::milliseconds((self.rank * 7 + round * 3) % 11));
    });
  }
}

// A rank whose part of a reduce is done may leave, however late another one comes.
TEST(Lifecycle, ARankThatDidItsPartLeavesAndTheOthersFinish) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  run_world(world, [](WorldRank& self) {
    std::int64_t value = 1 + self.rank, sum = 0;
    if (self.rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const Status status = wait_for(self.communicator->reduce(&value, &sum, 1, DataType::kInt64, ReduceOp::kSum, 1, {}));
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(sum, self.rank == 1 ? 6 : 0);
  });
}

TEST(Lifecycle, ARankThatLeavesInsteadOfCallingIsNamed) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  run_world(world, [](WorldRank& self) {
    if (self.rank == 2) return;
    std::int64_t value = 1, sum = 0;
    const Status status = wait_for(self.communicator->allreduce(&value, &sum, 1, DataType::kInt64, ReduceOp::kSum, {}));
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.to_string();
    EXPECT_NE(status.message().find("rank 2 (site site2) has left"), std::string::npos) << status.message();
  });
}

}  // namespace
}  // namespace isthmus
