// Communicators of some ranks, made by these alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/support/world.h"

namespace isthmus {
namespace {

std::vector<int> members_of(unsigned mask, int size) {
  std::vector<int> members;
  for (int rank = 0; rank < size; ++rank)
    if ((mask >> rank & 1u) != 0) members.push_back(rank);
  return members;
}

TEST(Subset, EveryNonEmptySubsetAllKeptAtOnce) {
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  run_world(world, [](WorldRank& self) {
    std::vector<std::unique_ptr<Communicator>> kept;
    std::vector<std::vector<int>> lists;
    for (unsigned mask = 1; mask < 16; ++mask) {
      std::vector<int> members = members_of(mask, self.size());
      if (mask % 2 == 0) std::reverse(members.begin(), members.end());
      if (std::find(members.begin(), members.end(), self.rank) == members.end()) continue;
      auto made = self.communicator->subset(members, {});
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      kept.push_back(std::move(made).value());
      lists.push_back(members);
    }
    ASSERT_EQ(kept.size(), 8u);
    std::vector<std::int64_t> values(kept.size());
    std::vector<std::shared_ptr<Work>> works;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(lists[i][static_cast<std::size_t>(kept[i]->rank())], self.rank);
      values[i] = 1 << self.rank;
      works.push_back(*kept[i]->allreduce(&values[i], &values[i], 1, DataType::kInt64, ReduceOp::kSum, {}));
    }
    for (std::size_t i = kept.size(); i-- > 0;) {
      ASSERT_TRUE(works[i]->wait(std::chrono::seconds(60)).ok());
      std::int64_t expected = 0;
      for (const int member : lists[i]) expected += 1 << member;
      EXPECT_EQ(values[i], expected);
    }
    ASSERT_TRUE(wait_for(self.communicator->barrier({})).ok());
  });
}

TEST(Subset, TheSameMembersMayFormSeveral) {
  run_world(WorldOptions(), [](WorldRank& self) {
    const std::vector<int> both = {0, 1};
    auto a = self.communicator->subset(both, {}), b = self.communicator->subset(both, {});
    ASSERT_TRUE(a.ok() && b.ok());
    std::int64_t x = self.rank, y = 10 + self.rank;
    const auto second = (*b)->allreduce(&y, &y, 1, DataType::kInt64, ReduceOp::kSum, {});
    const auto first = (*a)->allreduce(&x, &x, 1, DataType::kInt64, ReduceOp::kSum, {});
    ASSERT_TRUE(wait_for(first).ok() && wait_for(second).ok());
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 21);
  });
}

TEST(Subset, BadListsAreRefusedAndListsThatDifferNameBoth) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  world.options.timeout_ms = 5'000;
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const std::vector<int> twice = {self.rank, self.rank}, beyond = {self.rank, 7}, others = {(self.rank + 1) % 3};
    for (const auto& list : {twice, beyond, others, std::vector<int>()})
      EXPECT_EQ(c.subset(list, {}).status().code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(wait_for(c.barrier({})).ok());
    const std::vector<int> list = self.rank == 1 ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 2, 1};
    const Status status = c.subset(list, {}).status();
    if (self.rank == 2) return;  // its list is that of rank 0, which it asks
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_NE(status.message().find("0, 1, 2"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("0, 2, 1"), std::string::npos) << status.message();
    EXPECT_TRUE(c.status().ok()) << "the parent stays usable";
  });
}

}  // namespace
}  // namespace isthmus
