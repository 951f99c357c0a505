#include "benchmarks/lab/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace isthmus::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectoryTest() {
    std::string pattern = testing::TempDir() + "lab-XXXXXX";
    base_ = ::mkdtemp(pattern.data());
  }
  ~RunDirectoryTest() override { std::filesystem::remove_all(base_); }

  std::string base_;
};

TEST_F(RunDirectoryTest, LivesAsLongAsItsObject) {
  {
    const auto run = RunDirectory::create(base_, "one");
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_THAT(living_runs(base_), ElementsAre("one"));
    EXPECT_THAT(run->mark(), HasSubstr("LAB_RUN_MARK=one-"));
    EXPECT_THAT(remove_leftovers(base_), IsEmpty());
    EXPECT_THAT(RunDirectory::create(base_, "one").status().message(), HasSubstr("is running"));
  }
  EXPECT_THAT(living_runs(base_), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(base_ + "/one"));
}

TEST_F(RunDirectoryTest, LeftoversAreRemoved) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = RunDirectory::create(base_, "killed");
    ::_exit(run.ok() ? 0 : 1);  // as a killed lab, it removes nothing
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(base_ + "/killed/mark"));
  EXPECT_THAT(living_runs(base_), IsEmpty());
  EXPECT_THAT(remove_leftovers(base_), ElementsAre(HasSubstr("lab 'killed'")));
  EXPECT_FALSE(std::filesystem::exists(base_ + "/killed"));
}

TEST_F(RunDirectoryTest, RefusesBadNames) {
  for (const char* name : {"a/b", "..", ".hidden", "a b", "0123456789012345678901234567890123456789x"}) {
    EXPECT_EQ(RunDirectory::create(base_, name).status().code(), StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace isthmus::lab
