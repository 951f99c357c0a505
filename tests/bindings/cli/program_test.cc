#include "bindings/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::cli {
namespace {

TEST(Program, LiesBesideTheCommandOrInLibexec) {
  EXPECT_THAT(program_candidates("/opt/isthmus/bin/isthmus", "isthmus-lab"),
              testing::ElementsAre("/opt/isthmus/bin/isthmus-lab", "/opt/isthmus/libexec/isthmus-lab"));
}

TEST(Program, SaysWhereItLooked) {
  char word[] = "word";
  char* arguments[] = {word, nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(become_program("isthmus-no-such-program", {arguments, 1}), 127);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("isthmus-no-such-program is not installed"),
                             testing::HasSubstr("libexec/isthmus-no-such-program")));
}

}  // namespace
}  // namespace isthmus::cli
