// Ranks that do not call the same: every kind of mistake, for every operation, raises on every rank, names both values
// and breaks the communicator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "tests/support/world.h"

namespace isthmus {
namespace {

struct Call {
  std::string operation;
  std::size_t count = 6;
  DataType type = DataType::kInt32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  std::vector<std::size_t> counts{3, 1, 4, 2};
};

constexpr int kRanks = 4;
constexpr std::size_t kElements = 64;  // enough for every call here

// Issues the call on buffers of its own and returns how it ended.
Status issue(Communicator& c, const Call& call) {
  std::vector<double> send(kElements), recv(kElements);
  void* const to = recv.data();
  const void* const from = send.data();
  const BufferPair pairs[] = {{from, to, call.count, call.type}, {from, recv.data() + kElements / 2, 1, call.type}};
  const std::string& name = call.operation;
  const CallOptions options;
  const auto run = [&]() -> Communicator::WorkResult {
    if (name == "allreduce") return c.allreduce(from, to, call.count, call.type, call.op, options);
    if (name == "reduce") return c.reduce(from, to, call.count, call.type, call.op, call.root, options);
    if (name == "broadcast") return c.broadcast(to, call.count, call.type, call.root, options);
    if (name == "all_gather") return c.all_gather(from, to, call.count, call.type, options);
    if (name == "reduce_scatter") return c.reduce_scatter(from, to, call.count, call.type, call.op, options);
    if (name == "gather") return c.gather(from, to, call.count, call.type, call.root, options);
    if (name == "scatter") return c.scatter(from, to, call.count, call.type, call.root, options);
    if (name == "all_to_all") return c.all_to_all(from, to, call.count, call.type, options);
    if (name == "all_gather_v") return c.all_gather_v(from, to, call.counts, call.type, options);
    if (name == "reduce_scatter_v") return c.reduce_scatter_v(from, to, call.counts, call.type, call.op, options);
    if (name == "gather_v") return c.gather_v(from, to, call.counts, call.type, call.root, options);
    if (name == "scatter_v") return c.scatter_v(from, to, call.counts, call.type, call.root, options);
    if (name == "all_to_all_v") {
      const std::vector<std::size_t> equal(kRanks, 3);
      std::vector<std::size_t> out = equal;
      out[static_cast<std::size_t>(c.rank() + 1) % kRanks] += call.count - Call().count;
      return c.all_to_all_v(from, out, to, equal, call.type, options);
    }
    if (name == "allreduce_coalesced") return c.allreduce_coalesced(pairs, call.op, options);
    if (name == "all_gather_coalesced") return c.all_gather_coalesced(pairs, options);
    if (name == "reduce_scatter_coalesced") return c.reduce_scatter_coalesced(pairs, call.op, options);
    return c.barrier(options);
  };
  return wait_for(run());
}

struct Mistake {
  std::string name;
  Call right, wrong;
  std::vector<std::string> words;  // that every rank's message has
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

bool is_v(const std::string& operation) { return operation.ends_with("_v"); }

// Every kind of mistake that the operation can be called with.
std::vector<Mistake> mistakes_of(const std::string& operation) {
  Call right;
  right.operation = operation;
  std::vector<Mistake> mistakes;
  const auto add = [&](const char* kind, std::vector<std::string> words, auto change) {
    Mistake mistake{operation + "_" + kind, right, right, std::move(words)};
    change(mistake.wrong);
    mistakes.push_back(std::move(mistake));
  };
  const std::string called = operation.substr(0, operation.find("_coalesced"));
  if (operation == "barrier") {
    add("operation", {"barrier", "broadcast"}, [](Call& call) { call.operation = "broadcast"; });
    return mistakes;
  }
  add("operation", {called, "barrier"}, [](Call& call) { call.operation = "barrier"; });
  add("type", {"int32", "fp32"}, [](Call& call) { call.type = DataType::kFloat32; });
  if (operation == "all_to_all_v") {
    add("size", {"5 elements", "3"}, [](Call& call) { call.count += 2; });
    return mistakes;
  }
  if (is_v(operation)) {
    add("counts", {"3, 1, 4, 2", "3, 4, 1, 2"}, [](Call& call) { std::swap(call.counts[1], call.counts[2]); });
    add("size", {"3, 1, 4, 2", "3, 1, 4, 1"}, [](Call& call) { call.counts[3] = 1; });
  } else {
    const bool packed = operation != called;
    add("size", {packed ? "7 int32" : "6 int32", packed ? "8 int32" : "7 int32"}, [](Call& call) { ++call.count; });
    add("nothing", {packed ? "7 int32" : "6 int32", packed ? "1 int32" : "0 int32"},
        [](Call& call) { call.count = 0; });
  }
  if (operation.find("reduce") != std::string::npos)
    add("operator", {"(sum)", "(max)"}, [](Call& call) { call.op = ReduceOp::kMax; });
  for (const char* rooted : {"reduce", "broadcast", "gather", "scatter", "gather_v", "scatter_v"})
    if (operation == rooted) add("root", {"root 0", "root 1"}, [](Call& call) { call.root = 1; });
  return mistakes;
}

std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> all;
  for (const char* operation :
       {"allreduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "gather", "scatter", "all_to_all",
        "all_gather_v", "reduce_scatter_v", "gather_v", "scatter_v", "all_to_all_v", "allreduce_coalesced",
        "all_gather_coalesced", "reduce_scatter_coalesced", "barrier"})
    for (Mistake& mistake : mistakes_of(operation)) all.push_back(std::move(mistake));
  return all;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, RaiseOnEveryRankAndNameBoth) {
  const Mistake& mistake = GetParam();
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  world.options.timeout_ms = 20'000;
  run_world(world, [&](WorldRank& self) {
    Communicator& c = *self.communicator;
    Status status = issue(c, self.rank == 1 ? mistake.wrong : mistake.right);
    // A rank whose own part was done before it could hear of the others learns by its next operation.
    Call barrier;
    barrier.operation = "barrier";
    for (int i = 0; i < 1000 && status.ok(); ++i) status = issue(c, barrier);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    for (const std::string& words : mistake.words)
      EXPECT_NE(status.message().find(words), std::string::npos) << "no \"" << words << "\" in " << status.message();
    EXPECT_NE(status.message().find("#1"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("rank 1 (site site0)"), std::string::npos) << status.message();
    EXPECT_EQ(c.status().code(), StatusCode::kInvalidArgument) << "it is not usable, and says so";
  });
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, Mistakes, testing::ValuesIn(all_mistakes()),
                         [](const auto& info) { return info.param.name; });

TEST(Mistakes, TwoOperationsInAnotherOrder) {
  WorldOptions world;
  world.ranks_per_site = {1, 1};
  world.options.timeout_ms = 20'000;
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    std::int32_t a[4] = {}, b[4] = {};
    const auto sum = [&] { return c.allreduce(a, a, 4, DataType::kInt32, ReduceOp::kSum, {}); };
    const auto copy = [&] { return c.broadcast(b, 4, DataType::kInt32, 0, {}); };
    const auto first = self.rank == 0 ? sum() : copy(), second = self.rank == 0 ? copy() : sum();
    const Status early = wait_for(first), late = wait_for(second);
    const Status status = early.ok() ? late : early;
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_NE(status.message().find("allreduce"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("broadcast"), std::string::npos) << status.message();
  });
}

}  // namespace
}  // namespace isthmus
