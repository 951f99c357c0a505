#include "collectives/joint_completion.h"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus {
namespace {

TEST(JointCompletion, TellsOnceWhenAllHaveEndedWithTheFirstError) {
  std::vector<Status> told;
  const auto joint = JointCompletion::create(3, [&](const Status& status) { told.push_back(status); });
  joint->part_ended(Status());
  joint->part_ended(aborted("first"));
  EXPECT_TRUE(told.empty());
  joint->part_ended(unavailable("second"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].message(), "first");
}

TEST(JointCompletion, NothingIsDoneAtOnce) {
  int told = 0;
  JointCompletion::create(0, [&](const Status& status) { told += status.ok() ? 1 : 100; });
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace isthmus
