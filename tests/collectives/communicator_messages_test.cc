// Messages: from any source, and those that are not what their receive expects.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/world.h"

namespace isthmus {
namespace {

constexpr DataType kInt32 = DataType::kInt32;

TEST(AnySource, TakesEveryMessageOnceAndSaysWhoseItWas) {
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  run_world(world, [](WorldRank& self) {
    constexpr int kEach = 5;
    constexpr std::size_t kCount = 30000;
    Communicator& c = *self.communicator;
    if (self.rank != 0) {
      for (int i = 0; i < kEach; ++i) {
        const std::vector<std::int32_t> values(kCount, self.rank * 100 + i);
        ASSERT_TRUE(wait_for(c.send(values.data(), kCount, kInt32, 0, {{}, 4})).ok());
      }
      ASSERT_TRUE(wait_for(c.barrier({})).ok());
      return;
    }
    std::vector<int> next(4, 0);
    for (int i = 0; i < 3 * kEach; ++i) {
      std::vector<std::int32_t> values(kCount, -1);
      const auto work = c.receive(values.data(), kCount, kInt32, kAnySource, {{}, 4});
      ASSERT_TRUE(wait_for(work).ok()) << wait_for(work).to_string();
      const int source = (*work)->source();
      ASSERT_TRUE(source >= 1 && source <= 3);
      // Those of one rank come in its order.
      EXPECT_EQ(values, std::vector<std::int32_t>(kCount, source * 100 + next[static_cast<std::size_t>(source)]++));
    }
    EXPECT_EQ(next, (std::vector<int>{0, kEach, kEach, kEach}));
    ASSERT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(AnySource, IsMatchedInTheOrderOfCallsAmongOtherReceives) {
  WorldOptions world;
  world.ranks_per_site = {1, 1};
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    std::int32_t values[3] = {1, 2, 3}, got[3] = {};
    if (self.rank == 1) {
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(wait_for(c.send(&values[i], 1, kInt32, 0, {})).ok());
    } else {
      const auto any = c.receive(&got[0], 1, kInt32, kAnySource, {});
      const auto named = c.receive(&got[1], 1, kInt32, 1, {});
      EXPECT_EQ((*named)->source(), 1);
      const auto last = c.receive(&got[2], 1, kInt32, kAnySource, {});
      for (const auto& work : {last, named, any}) ASSERT_TRUE(wait_for(work).ok());
      EXPECT_EQ(got[0], 1);
      EXPECT_EQ(got[1], 2);
      EXPECT_EQ(got[2], 3);
      EXPECT_EQ((*last)->source(), 1);
    }
    ASSERT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(AnySource, EndsAtItsTimeoutAndWithTheCommunicator) {
  WorldOptions world;
  world.ranks_per_site = {1, 1};
  run_world(world, [](WorldRank& self) {
    if (self.rank == 1) return std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::int32_t value = 0;
    CallOptions options;
    options.timeout = std::chrono::milliseconds(100);
    const Status status = wait_for(self.communicator->receive(&value, 1, kInt32, kAnySource, options));
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_NE(status.message().find("any rank"), std::string::npos) << status.message();
  });
  run_world(world, [](WorldRank& self) {
    if (self.rank == 1) return;
    std::int32_t value = 0;
    const auto work = self.communicator->receive(&value, 1, kInt32, kAnySource, {});
    EXPECT_EQ(wait_for(work).code(), StatusCode::kUnavailable) << "nobody is left to send";
  });
}

TEST(Messages, SH_06_OtherSizesAndTypesFailTheReceiveAloneAndThePairGoesOn) {
  WorldOptions world;
  world.ranks_per_site = {2, 1};
  world.options.eager_bytes = 4096;
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    if (self.rank == 1) return void(wait_for(c.barrier({})).ok());
    const int peer = 2 - self.rank;
    std::vector<std::int32_t> big(100000, 7), target(100000, -1);
    struct Pair {
      std::size_t sent, taken;
      DataType type;
    };
    for (const Pair& pair : {Pair{3, 4, kInt32}, Pair{5, 4, kInt32}, Pair{100000, 4, kInt32}, Pair{4, 100000, kInt32},
                             Pair{4, 4, DataType::kFloat32}, Pair{0, 4, kInt32}}) {
      if (self.rank == 0) {
        EXPECT_TRUE(wait_for(c.send(big.data(), pair.sent, kInt32, peer, {})).ok()) << "the sender completes";
      } else {
        const Status status = wait_for(c.receive(target.data(), pair.taken, pair.type, peer, {}));
        EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
        for (const std::string& words : {std::to_string(pair.sent) + " int32", std::to_string(pair.taken) + " ",
                                         std::string("rank 0 (site site0)"), std::string("rank 2 (site site1)")})
          EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
        EXPECT_EQ(target[0], -1) << "nothing is written";
      }
    }
    if (self.rank == 0) {
      ASSERT_TRUE(wait_for(c.send(big.data(), big.size(), kInt32, peer, {})).ok());
    } else {
      ASSERT_TRUE(wait_for(c.receive(target.data(), target.size(), kInt32, peer, {})).ok());
      EXPECT_EQ(target, big);
    }
    EXPECT_TRUE(c.status().ok());
    EXPECT_TRUE(wait_for(c.barrier({})).ok());
  });
}

TEST(Messages, AHigherPriorityOvertakesWhatIsUnderWay) {
  WorldOptions world;
  world.ranks_per_site = {1, 1};
  Shape shape;
  shape.out.rate_bytes_per_sec = 20e6;
  shape.out.delay = std::chrono::milliseconds(1);
  world.shape = shape;
  world.options.segment_bytes = 16 * 1024;
  run_world(world, [](WorldRank& self) {
    Communicator& c = *self.communicator;
    const int peer = 1 - self.rank;
    std::vector<std::int32_t> big(2'000'000, self.rank), other(big.size()), small(20'000, self.rank), got(small.size());
    CallOptions urgent;
    urgent.tag = 1;
    urgent.priority = 10;
    const auto slow = c.receive(other.data(), other.size(), kInt32, peer, {});
    const auto slow_send = c.send(big.data(), big.size(), kInt32, peer, {});
    const auto quick = c.receive(got.data(), got.size(), kInt32, peer, urgent);
    const auto quick_send = c.send(small.data(), small.size(), kInt32, peer, urgent);
    ASSERT_TRUE(wait_for(quick).ok());
    EXPECT_FALSE((*slow)->done());
    for (const auto& work : {slow, slow_send, quick_send}) ASSERT_TRUE(wait_for(work).ok());
    EXPECT_EQ(other[12345], peer);
    EXPECT_EQ(got[123], peer);
  });
}

}  // namespace
}  // namespace isthmus
