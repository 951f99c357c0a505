// The operations beyond allreduce and its kin, over worlds of threads of every shape, against what they should give.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/world.h"

namespace isthmus {
namespace {

using Int32s = std::vector<std::int32_t>;
constexpr DataType kInt32 = DataType::kInt32;

// Element i of what rank `from` has for rank `to`.
std::int32_t value_of(int from, int to, std::size_t i) {
  return static_cast<std::int32_t>(from * 1'000'000 + to * 10'000 + static_cast<int>(i % 9973));
}

Int32s block_of(int from, int to, std::size_t count) {
  Int32s block(count);
  for (std::size_t i = 0; i < count; ++i) block[i] = value_of(from, to, i);
  return block;
}

void append(Int32s* to, const Int32s& more) { to->insert(to->end(), more.begin(), more.end()); }

std::vector<std::size_t> uneven_counts(int ranks, std::size_t scale) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back(static_cast<std::size_t>((rank * 5 + 2) % 7) * scale / 3);
  return counts;
}

std::size_t sum(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

struct Case {
  const char* name;
  std::vector<int> ranks_per_site;
  bool interleave;
  const char* all_to_all;
};

class Operations : public testing::TestWithParam<Case> {
 protected:
  WorldOptions options() const {
    WorldOptions world = world_of_small_steps(GetParam().ranks_per_site, GetParam().interleave);
    world.options.all_to_all = GetParam().all_to_all;
    return world;
  }
};

constexpr std::size_t kLengths[] = {0, 1, 7, 40013};

TEST_P(Operations, Reduce) {
  run_world(options(), [](WorldRank& self) {
    for (const std::size_t count : kLengths) {
      const int root = static_cast<int>((count + 1) % static_cast<std::size_t>(self.size()));
      Int32s in = block_of(self.rank, 0, count), out(self.rank == root ? count : 0, -1), expected(count, 0);
      for (int rank = 0; rank < self.size(); ++rank)
        for (std::size_t i = 0; i < count; ++i) expected[i] += value_of(rank, 0, i);
      Communicator& c = *self.communicator;
      ASSERT_TRUE(wait_for(c.reduce(in.data(), out.data(), count, kInt32, ReduceOp::kSum, root, {})).ok());
      if (self.rank == root) {
        EXPECT_EQ(out, expected) << count;
      }
      EXPECT_EQ(in, block_of(self.rank, 0, count)) << "the input is only read";
      void* const result = self.rank == root ? in.data() : nullptr;
      ASSERT_TRUE(wait_for(c.reduce(in.data(), result, count, kInt32, ReduceOp::kSum, root, {})).ok());
      if (self.rank == root) {
        EXPECT_EQ(in, expected) << "in place, " << count;
      }
    }
  });
}

TEST_P(Operations, BlocksThatDifferInSize) {
  run_world(options(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    for (const std::size_t scale : {std::size_t{1}, std::size_t{3}, std::size_t{20000}}) {
      const std::vector<std::size_t> counts = uneven_counts(self.size(), scale);
      const std::size_t own = counts[static_cast<std::size_t>(self.rank)], total = sum(counts);
      const Int32s block = block_of(self.rank, 0, own);
      Int32s all(total, -1), expected;
      for (int rank = 0; rank < self.size(); ++rank)
        append(&expected, block_of(rank, 0, counts[static_cast<std::size_t>(rank)]));
      ASSERT_TRUE(wait_for(c.all_gather_v(block.data(), all.data(), counts, kInt32, {})).ok());
      EXPECT_EQ(all, expected);

      const Int32s whole = block_of(self.rank, 1, total);
      Int32s mine(own, -1), reduced(own, 0);
      std::size_t before = 0;
      for (int rank = 0; rank < self.rank; ++rank) before += counts[static_cast<std::size_t>(rank)];
      for (int rank = 0; rank < self.size(); ++rank)
        for (std::size_t i = 0; i < own; ++i) reduced[i] += value_of(rank, 1, before + i);
      ASSERT_TRUE(wait_for(c.reduce_scatter_v(whole.data(), mine.data(), counts, kInt32, ReduceOp::kSum, {})).ok());
      EXPECT_EQ(mine, reduced);

      const int root = self.size() - 1;
      Int32s gathered(self.rank == root ? total : 0, -1);
      ASSERT_TRUE(wait_for(c.gather_v(block.data(), gathered.data(), counts, kInt32, root, {})).ok());
      if (self.rank == root) {
        EXPECT_EQ(gathered, expected);
      }
      Int32s scattered(own, -1);
      ASSERT_TRUE(wait_for(c.scatter_v(gathered.data(), scattered.data(), counts, kInt32, root, {})).ok());
      EXPECT_EQ(scattered, block);
    }
  });
}

TEST_P(Operations, GatherAndScatterInPlaceAndOut) {
  run_world(options(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const auto ranks = static_cast<std::size_t>(self.size()), own = static_cast<std::size_t>(self.rank);
    for (const std::size_t count : kLengths) {
      for (const int root : {0, self.size() / 2}) {
        Int32s block = block_of(self.rank, 3, count), all(self.rank == root ? ranks * count : 0, -1), expected;
        for (int rank = 0; rank < self.size(); ++rank) append(&expected, block_of(rank, 3, count));
        const std::int32_t* send = block.data();
        if (self.rank == root && count > 0) {  // in place
          std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(own * count));
          send = all.data() + own * count;
        }
        ASSERT_TRUE(wait_for(c.gather(send, all.data(), count, kInt32, root, {})).ok());
        if (self.rank == root) {
          EXPECT_EQ(all, expected);
        }
        Int32s back(count, -1);
        ASSERT_TRUE(wait_for(c.scatter(all.data(), back.data(), count, kInt32, root, {})).ok());
        EXPECT_EQ(back, block);
      }
    }
  });
}

TEST_P(Operations, AllToAll) {
  run_world(options(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{3001}}) {
      Int32s out, expected;
      for (int rank = 0; rank < self.size(); ++rank) {
        append(&out, block_of(self.rank, rank, count));
        append(&expected, block_of(rank, self.rank, count));
      }
      Int32s in(out.size(), -1);
      ASSERT_TRUE(wait_for(c.all_to_all(out.data(), in.data(), count, kInt32, {})).ok());
      EXPECT_EQ(in, expected) << count;
    }
    const auto count_of = [](int from, int to) { return static_cast<std::size_t>((from * 3 + to * 5) % 4) * 1009; };
    Int32s out, expected;
    std::vector<std::size_t> out_counts, in_counts;
    for (int rank = 0; rank < self.size(); ++rank) {
      out_counts.push_back(count_of(self.rank, rank));
      in_counts.push_back(count_of(rank, self.rank));
      append(&out, block_of(self.rank, rank, out_counts.back()));
      append(&expected, block_of(rank, self.rank, in_counts.back()));
    }
    Int32s in(expected.size(), -1);
    ASSERT_TRUE(wait_for(c.all_to_all_v(out.data(), out_counts, in.data(), in_counts, kInt32, {})).ok());
    EXPECT_EQ(in, expected);
  });
}

TEST_P(Operations, CoalescedBuffersOfAllSizes) {
  run_world(options(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const auto ranks = static_cast<std::size_t>(self.size());
    const std::size_t counts[] = {3, 0, 1000, 50000, 17, 1, 90000, 4, 4};
    std::vector<Int32s> sums, wholes, blocks, gathered;
    std::vector<BufferPair> reduced, scattered, collected;
    for (const std::size_t count : counts) {
      sums.push_back(block_of(self.rank, 2, count));
      wholes.push_back(block_of(self.rank, 4, count * ranks));
      blocks.emplace_back(count, -1);
      gathered.emplace_back(count * ranks, -1);
    }
    for (std::size_t k = 0; k < std::size(counts); ++k) {
      reduced.push_back({sums[k].data(), sums[k].data(), counts[k], kInt32});
      scattered.push_back({wholes[k].data(), blocks[k].data(), counts[k], kInt32});
      collected.push_back({wholes[k].data(), gathered[k].data(), counts[k], kInt32});
    }
    ASSERT_EQ(wait_for(c.allreduce_coalesced(reduced, ReduceOp::kSum, {})).to_string(), "ok");
    ASSERT_EQ(wait_for(c.reduce_scatter_coalesced(scattered, ReduceOp::kMax, {})).to_string(), "ok");
    ASSERT_EQ(wait_for(c.all_gather_coalesced(collected, {})).to_string(), "ok");
    for (std::size_t k = 0; k < std::size(counts); ++k) {
      Int32s sum_of_all(counts[k], 0), largest = block_of(self.size() - 1, 4, counts[k] * ranks), all;
      for (int rank = 0; rank < self.size(); ++rank) {
        for (std::size_t i = 0; i < counts[k]; ++i) sum_of_all[i] += value_of(rank, 2, i);
        append(&all, block_of(rank, 4, counts[k]));
      }
      const auto begin = largest.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(self.rank) * counts[k]);
      EXPECT_EQ(sums[k], sum_of_all) << k;
      EXPECT_EQ(blocks[k], Int32s(begin, begin + static_cast<std::ptrdiff_t>(counts[k]))) << k;
      EXPECT_EQ(gathered[k], all) << k;
    }
    EXPECT_TRUE(wait_for(c.allreduce_coalesced({}, ReduceOp::kSum, {})).ok());
  });
}

TEST_P(Operations, BatchOfMessagesAmongAll) {
  run_world(options(), [](WorldRank& self) {
    std::vector<Int32s> out, in;
    std::vector<Message> messages;
    for (int peer = 0; peer < self.size(); ++peer) {
      out.push_back(block_of(self.rank, peer, 20011));
      in.emplace_back(20011, -1);
    }
    for (int peer = 0; peer < self.size(); ++peer) {
      if (peer == self.rank) continue;
      const auto index = static_cast<std::size_t>(peer);
      messages.push_back({true, out[index].data(), 20011, kInt32, peer, 9});
      messages.push_back({false, in[index].data(), 20011, kInt32, peer, 9});
    }
    ASSERT_TRUE(wait_for(self.communicator->batch(messages, {})).ok());
    for (int peer = 0; peer < self.size(); ++peer)
      if (peer != self.rank) {
        EXPECT_EQ(in[static_cast<std::size_t>(peer)], block_of(peer, self.rank, 20011));
      }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Operations,
                         testing::Values(Case{"OneRank", {1}, false, "auto"}, Case{"OneSite", {3}, false, "auto"},
                                         Case{"TwoSites", {1, 1}, false, "auto"},
                                         Case{"ThreeByTwo", {2, 2, 2}, false, "staged"},
                                         Case{"UnevenInterleaved", {3, 1, 2}, true, "auto"},
                                         Case{"FiveSites", {1, 1, 1, 1, 1}, false, "pairwise"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(OperationArguments, AreRefusedAndLeaveTheCommunicatorUsable) {
  run_world(WorldOptions(), [](WorldRank& self) {
    Communicator& c = *self.communicator;
    Int32s a(8), b(8);
    const std::vector<std::size_t> counts = {2, 2}, few = {2}, huge = {SIZE_MAX / 8, SIZE_MAX / 8};
    const auto expect = [](const Communicator::WorkResult& result, const char* words) {
      EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << result.status().to_string();
      EXPECT_NE(result.status().message().find(words), std::string::npos) << result.status().message();
    };
    expect(c.reduce(a.data(), b.data(), 4, kInt32, ReduceOp::kSum, 2, {}), "root 2");
    expect(c.gather(a.data(), b.data(), 4, kInt32, -1, {}), "root -1");
    expect(c.all_gather_v(a.data(), b.data(), few, kInt32, {}), "1 counts for 2 ranks");
    expect(c.all_gather_v(a.data(), b.data(), huge, kInt32, {}), "buffer can hold");
    expect(c.scatter_v(self.rank == 0 ? nullptr : a.data(), nullptr, counts, kInt32, 0, {}), "null");
    expect(c.all_to_all(a.data(), a.data(), 4, kInt32, {}), "in place");
    const std::vector<std::size_t> other = {1, 1};
    expect(c.all_to_all_v(a.data(), counts, b.data(), other, kInt32, {}), "to itself");
    expect(c.batch(std::vector<Message>{{true, a.data(), 1, kInt32, 1 - self.rank, 0},
                                        {true, a.data(), 1, kInt32, self.rank, 0}},
                   {}),
           "message 1 of a batch");
    expect(c.allreduce_coalesced(std::vector<BufferPair>{{a.data(), a.data() + 1, 4, kInt32}}, ReduceOp::kSum, {}),
           "buffer 0");
    EXPECT_TRUE(c.status().ok());
    EXPECT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(AllToAllV, SizesThatDifferBetweenAPairNameBoth) {
  WorldOptions world;
  world.ranks_per_site = {1, 1, 1};
  world.options.timeout_ms = 20'000;
  run_world(world, [](WorldRank& self) {
    std::vector<std::size_t> out(3, 10), in(3, 10);
    if (self.rank == 0) out[1] = 12;  // rank 1 expects 10
    Int32s from(32), to(30);
    Status status = wait_for(self.communicator->all_to_all_v(from.data(), out, to.data(), in, kInt32, {}));
    for (int i = 0; i < 1000 && status.ok(); ++i)
      status = wait_for(self.communicator->barrier({}));  // rank 2 is content
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    for (const char* words : {"all_to_all_v #1", "12 elements", "10", "rank 0 (site site0)", "rank 1 (site site1)"})
      EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    EXPECT_FALSE(self.communicator->status().ok());
  });
}

}  // namespace
}  // namespace isthmus
