// Worlds of threads that agree on a network, from a file and by measuring.
#include "collectives/network_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "collectives/network_probe.h"
#include "tests/support/world.h"

namespace isthmus {
namespace {

using testing::HasSubstr;

// A file that ends with the test.
class SitesFileOnDisk {
 public:
  explicit SitesFileOnDisk(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("sites-{}-{}.toml", ::getpid(), testing::UnitTest::GetInstance()->random_seed())) {
    std::ofstream(path_) << text;
  }
  ~SitesFileOnDisk() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr const char* kUnevenSites = R"(
[[site]]
name = "elsewhere"
[[site]]
name = "site2"
rate = "25mbit"
[[site]]
name = "site0"
[[site]]
name = "site1"
)";

TEST(NetworkAgreement, EveryRankPlansFromTheFileOfRankZero) {
  const SitesFileOnDisk file(kUnevenSites);
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  world.options.sites_file = file.path();
  run_world(world, [](WorldRank& self) {
    const Network& network = self.communicator->planner().network();
    ASSERT_EQ(network.site_count(), 3);
    EXPECT_EQ(network.sites[0].name, "site0");
    EXPECT_EQ(network.sites[0].rank_count, 2);
    EXPECT_EQ(network.sites[2].name, "site2");
    EXPECT_EQ(network.sites[2].up_bytes_per_sec, 3'125'000);
    EXPECT_EQ(network.sites[1].up_bytes_per_sec, 12'500'000);
    EXPECT_EQ(self.communicator->planner().owner_weights().at(2), 0u);

    std::vector<std::int64_t> values(100'003, self.rank + 1);
    const Status status = wait_for(self.communicator->allreduce(values.data(), values.data(), values.size(),
                                                                DataType::kInt64, ReduceOp::kSum, {}));
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(values, std::vector<std::int64_t>(values.size(), 1 + 2 + 3 + 4));
  });
}

TEST(NetworkAgreement, APartPlansWithItsSites) {
  const SitesFileOnDisk file(kUnevenSites);
  WorldOptions world;
  world.ranks_per_site = {2, 1, 1};
  world.options.sites_file = file.path();
  run_world(world, [](WorldRank& self) {
    auto part = self.communicator->split(self.rank == 0 ? 0 : 1, -self.rank, {});
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    const Network& network = (*part)->planner().network();
    if (self.rank == 0) {
      ASSERT_EQ(network.site_count(), 1);
      EXPECT_EQ(network.sites[0].rank_count, 1);
      return;
    }
    ASSERT_EQ(network.site_count(), 3);  // by rank: 3 (site2), 2 (site1), 1 (site0)
    EXPECT_EQ(network.sites[0].name, "site2");
    EXPECT_EQ(network.sites[0].up_bytes_per_sec, 3'125'000);
    EXPECT_EQ(network.sites[2].name, "site0");
    EXPECT_EQ(network.sites[2].rank_count, 1);
  });
}

// Two sites are not planned for, so their communicator does not mind; who asks is told, on every rank alike.
TEST(NetworkAgreement, AMistakeInTheFileIsAnErrorOnEveryRank) {
  const SitesFileOnDisk file("[[site]]\nname = \"site0\"\n");
  WorldOptions world;
  world.ranks_per_site = {1, 2};
  world.options.sites_file = file.path();
  std::atomic<int> failed{0};
  run_world(world, [&](WorldRank& self) {
    EXPECT_EQ(assumed_network(*self.communicator).encode(), self.communicator->planner().network().encode());
    const Status status = agree_on_network(*self.communicator).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr("site site1 of the communicator is not in it; it has site0"));
    ++failed;
  });
  EXPECT_EQ(failed, 3);
}

// Every rank has the same; the test knows no more of the times of a busy machine than their limits.
TEST(NetworkAgreement, MeasuresLinesAndDelays) {
  WorldOptions world;
  world.ranks_per_site = {1, 2, 1};
  Shape shape;
  shape.out.delay = std::chrono::milliseconds(5);
  constexpr std::int64_t kLineBytesPerSec = 4'000'000;
  shape.out.rate_bytes_per_sec = kLineBytesPerSec;
  world.shape = shape;
  std::mutex mutex;
  std::vector<std::vector<PathSample>> results;
  run_world(world, [&](WorldRank& self) {
    const auto samples = probe_paths(*self.communicator, std::chrono::milliseconds(300));
    ASSERT_TRUE(samples.ok()) << samples.status().to_string();
    std::lock_guard lock(mutex);
    results.push_back(*samples);
  });
  ASSERT_EQ(results.size(), 4u);
  for (std::size_t here = 0; here < 3; ++here) {
    for (std::size_t there = 0; there < 3; ++there) {
      const PathSample& sample = results[0][here * 3 + there];
      for (const auto& other : results) {
        EXPECT_EQ(other[here * 3 + there].round_trip_us, sample.round_trip_us);
        EXPECT_EQ(other[here * 3 + there].received_bytes_per_sec, sample.received_bytes_per_sec);
      }
      if (here == there) continue;
      EXPECT_GE(std::max(sample.round_trip_us, results[0][there * 3 + here].round_trip_us), 10'000);
      EXPECT_GT(sample.received_bytes_per_sec, 0);
      // Half of the time is taken for the way at most, whatever the ping took.
      EXPECT_LE(sample.received_bytes_per_sec, 2 * kLineBytesPerSec);
    }
  }
}

}  // namespace
}  // namespace isthmus
