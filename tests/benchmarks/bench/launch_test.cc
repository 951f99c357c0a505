#include "benchmarks/bench/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace isthmus::bench {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<Launch> detect(const Variables& variables, int expect_ranks = 0) {
  return detect_launch(
      [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      expect_ranks);
}

TEST(Launch, ReadsTheLabsVariables) {
  const auto launch =
      detect({{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "10.77.0.1"}, {"MASTER_PORT", "4000"}});
  ASSERT_TRUE(launch.ok()) << launch.status().to_string();
  EXPECT_EQ(launch->rank, 1);
  EXPECT_EQ(launch->world_size, 3);
  EXPECT_EQ(launch->master_host, "10.77.0.1");
  EXPECT_EQ(launch->master_port, 4000);
  EXPECT_EQ(launch->launcher, "RANK/WORLD_SIZE");
}

TEST(Launch, LeavesTorchrunItsPort) {
  const auto launch = detect({{"RANK", "0"},
                              {"WORLD_SIZE", "2"},
                              {"MASTER_ADDR", "localhost"},
                              {"MASTER_PORT", "4000"},
                              {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  ASSERT_TRUE(launch.ok()) << launch.status().to_string();
  EXPECT_EQ(launch->master_port, 4001);
}

TEST(Launch, ReadsOpenMpiOnOneHost) {
  const auto launch =
      detect({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(launch.ok()) << launch.status().to_string();
  EXPECT_EQ(launch->rank, 1);
  EXPECT_EQ(launch->master_host, "127.0.0.1");
  EXPECT_EQ(launch->master_port, kDefaultMasterPort);
}

TEST(Launch, NeedsTheAddressOfRankZeroAcrossHosts) {
  for (const Variables& variables :
       {Variables{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
        Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}},
        Variables{{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_TASKS_PER_NODE", "2(x2)"}}}) {
    const auto launch = detect(variables);
    ASSERT_FALSE(launch.ok());
    EXPECT_THAT(launch.status().message(), HasSubstr("MASTER_ADDR"));
  }
}

TEST(Launch, BM_02_RefusesAProcessWithoutALauncher) {
  const auto launch = detect({{"MASTER_ADDR", "127.0.0.1"}});
  ASSERT_FALSE(launch.ok());
  EXPECT_THAT(launch.status().message(), HasSubstr("no launcher"));
  EXPECT_THAT(launch.status().message(), HasSubstr("SLURM_PROCID"));
}

TEST(Launch, BM_02_RefusesAnotherWorldThanExpected) {
  const Variables one{{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "127.0.0.1"}};
  EXPECT_THAT(detect(one, 4).status().message(), HasSubstr("4 ranks are expected, but the world has 1"));
  EXPECT_THAT(detect(one).status().message(), HasSubstr("nothing to measure"));
}

TEST(Launch, NamesTheVariableThatIsWrong) {
  EXPECT_THAT(detect({{"RANK", "0"}}).status().message(), HasSubstr("WORLD_SIZE is not set"));
  EXPECT_THAT(detect({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).status().message(), HasSubstr("RANK=2"));
  EXPECT_THAT(detect({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).status().message(), HasSubstr("RANK=x"));
  EXPECT_THAT(
      detect({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "0"}}).status().message(),
      HasSubstr("MASTER_PORT=0"));
}

}  // namespace
}  // namespace isthmus::bench
