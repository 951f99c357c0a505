// Many operations in flight on many communicators, issued and waited for in orders that differ by rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/world.h"

namespace isthmus {
namespace {

using Int64s = std::vector<std::int64_t>;
constexpr DataType kInt64 = DataType::kInt64;

// One random operation of a communicator, the same on all its ranks, and what it must give.
struct Planned {
  enum Kind { kAllreduce, kBroadcast, kReduce, kAllToAll, kAllGather, kKinds } kind = kAllreduce;
  std::size_t count = 0;
  int root = 0, priority = 0;
  Int64s input, output, expected;
  std::shared_ptr<Work> work;
};

std::int64_t value_of(int rank, std::size_t operation, std::size_t i) {
  return static_cast<std::int64_t>(operation * 1'000'003 + static_cast<std::size_t>(rank) * 7919 + i);
}

Planned plan(const Communicator& c, std::size_t operation, std::mt19937_64& shared) {
  Planned p;
  p.kind = static_cast<Planned::Kind>(shared() % Planned::kKinds);
  p.count = shared() % 5 == 0 ? shared() % 20'000 : shared() % 60;
  const auto ranks = static_cast<std::size_t>(c.size());
  p.root = static_cast<int>(shared() % ranks);
  p.priority = static_cast<int>(shared() % 3) - 1;
  const auto input_of = [&](int rank) {
    Int64s input(p.count * (p.kind == Planned::kAllToAll ? ranks : 1));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = value_of(rank, operation, i);
    return input;
  };
  p.input = input_of(c.rank());
  const bool has_output = p.kind != Planned::kReduce || c.rank() == p.root;
  for (int rank = 0; rank < c.size(); ++rank) {
    const Int64s theirs = input_of(rank);
    const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(c.rank()) * p.count);
    if (p.kind == Planned::kAllGather) p.expected.insert(p.expected.end(), theirs.begin(), theirs.end());
    if (p.kind == Planned::kAllToAll)
      p.expected.insert(p.expected.end(), begin, begin + static_cast<std::ptrdiff_t>(p.count));
    if (p.kind == Planned::kBroadcast && rank == p.root) p.expected = theirs;
    if (p.kind != Planned::kAllreduce && p.kind != Planned::kReduce) continue;
    p.expected.resize(has_output ? p.count : 0);
    for (std::size_t i = 0; i < p.expected.size(); ++i) p.expected[i] += theirs[i];
  }
  p.output.assign(p.expected.size(), -1);
  if (p.kind == Planned::kBroadcast && c.rank() == p.root) p.output = p.input;
  return p;
}

Communicator::WorkResult issue(Communicator& c, Planned& p) {
  CallOptions options;
  options.priority = p.priority;
  void* const to = p.output.data();
  switch (p.kind) {
    case Planned::kAllreduce: return c.allreduce(p.input.data(), to, p.count, kInt64, ReduceOp::kSum, options);
    case Planned::kBroadcast: return c.broadcast(to, p.count, kInt64, p.root, options);
    case Planned::kReduce: return c.reduce(p.input.data(), to, p.count, kInt64, ReduceOp::kSum, p.root, options);
    case Planned::kAllToAll: return c.all_to_all(p.input.data(), to, p.count, kInt64, options);
    default: return c.all_gather(p.input.data(), to, p.count, kInt64, options);
  }
}

// Issues all, the communicators' sequences interleaved as this rank's dice say, and waits in another random order.
void run_interleaved(WorldRank& self, const std::vector<Communicator*>& communicators, std::size_t each,
                     std::uint64_t seed) {
  std::mt19937_64 own(seed * 1000 + static_cast<std::uint64_t>(self.rank));
  std::vector<std::vector<Planned>> plans;
  std::vector<std::size_t> turns;
  for (std::size_t k = 0; k < communicators.size(); ++k) {
    std::mt19937_64 shared(seed * 100 + k);
    plans.emplace_back();
    for (std::size_t i = 0; i < each; ++i) plans.back().push_back(plan(*communicators[k], i, shared));
    turns.insert(turns.end(), each, k);
  }
  std::shuffle(turns.begin(), turns.end(), own);
  std::vector<std::size_t> next(communicators.size());
  std::vector<Planned*> issued;
  for (const std::size_t k : turns) {
    Planned& p = plans[k][next[k]++];
    auto work = issue(*communicators[k], p);
    ASSERT_TRUE(work.ok()) << work.status().to_string();
    p.work = *work;
    issued.push_back(&p);
  }
  std::shuffle(issued.begin(), issued.end(), own);
  for (Planned* p : issued) {
    const Status status = p->work->wait(std::chrono::seconds(120));
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_EQ(p->output, p->expected) << "kind " << p->kind << ", count " << p->count;
  }
}

TEST(Concurrency, RandomInterleavingsOnThreeCommunicators) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    WorldOptions world;
    world.ranks_per_site = {2, 1, 1};
    world.seed = seed;
    world.options.eager_bytes = seed % 2 == 0 ? 0 : 64 * 1024;
    world.options.chunk_bytes = 16 * 1024;
    world.options.segment_bytes = 4 * 1024;
    Shape shape;
    shape.out.delay = std::chrono::microseconds(200);
    shape.out.jitter = std::chrono::microseconds(800);
    world.shape = shape;
    run_world(world, [seed](WorldRank& self) {
      auto half = self.communicator->split(self.rank % 2, 0, {});
      ASSERT_TRUE(half.ok()) << half.status().to_string();
      const std::vector<int> reversed = {3, 2, 1, 0};
      auto mirror = self.communicator->subset(reversed, {});
      ASSERT_TRUE(mirror.ok()) << mirror.status().to_string();
      run_interleaved(self, {self.communicator, half->get(), mirror->get()}, 80, seed);
    });
  }
}

TEST(Deterministic, RefusesWhatDoesNotSumInSiteOrder) {
  for (const char* algorithm : {"ring", "direct", "exchange", "auto"}) {
    WorldOptions world;
    world.ranks_per_site = {1, 1, 1};
    world.options.algorithm = algorithm;
    world.options.deterministic = true;
    run_world(world, [algorithm](WorldRank& self) {
      float value = 1;
      const Status status =
          wait_for(self.communicator->allreduce(&value, &value, 1, DataType::kFloat32, ReduceOp::kSum, {}));
      if (std::string(algorithm) != "ring") {
        EXPECT_TRUE(status.ok()) << status.to_string();
        EXPECT_EQ(value, 3);
        return;
      }
      EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
      EXPECT_NE(status.message().find("deterministic"), std::string::npos) << status.message();
      EXPECT_TRUE(wait_for(self.communicator->barrier({})).ok());
    });
  }
}

// The sum of an element does not depend on its place, the chunk size or the number of elements beside it.
TEST(Deterministic, ResultsRepeatAcrossShapes) {
  std::vector<float> results;
  for (const std::size_t chunk : {std::size_t{4096}, std::size_t{65536}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{5000}, std::size_t{70001}}) {
      WorldOptions world;
      world.ranks_per_site = {2, 1, 1};
      world.options.deterministic = true;
      world.options.chunk_bytes = static_cast<std::int64_t>(chunk);
      world.options.segment_bytes = 4096;
      float last = 0;
      run_world(world, [&](WorldRank& self) {
        std::vector<float> values(count, 0.1f * static_cast<float>(self.rank * self.rank + 1) + 1e-7f);
        ASSERT_TRUE(wait_for(self.communicator->allreduce(values.data(), values.data(), count, DataType::kFloat32,
                                                          ReduceOp::kSum, {}))
                        .ok());
        for (const float value : values) ASSERT_EQ(value, values.front());
        if (self.rank == 0) last = values.back();
      });
      results.push_back(last);
    }
  }
  for (const float result : results) EXPECT_EQ(result, results.front());
}

}  // namespace
}  // namespace isthmus
