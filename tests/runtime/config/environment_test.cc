#include "runtime/config/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace isthmus {
namespace {

using testing::HasSubstr;

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Environment, UnsetVariablesLeaveTheDefaults) {
  Options defaults;
  defaults.wan_lanes = 7;
  const auto options = options_from_environment(defaults);
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->wan_lanes, 7);
  EXPECT_EQ(options->site, "");
}

TEST(Environment, VariablesGoOverTheDefaults) {
  Variable site("ISTHMUS_SITE", "oslo"), lanes("ISTHMUS_WAN_LANES", "12");
  const auto options = options_from_environment(Options{});
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->site, "oslo");
  EXPECT_EQ(options->wan_lanes, 12);
}

TEST(Environment, BadValueNamesVariableValueAndRange) {
  Variable lanes("ISTHMUS_WAN_LANES", "4000");
  const Status status = options_from_environment(Options{}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("ISTHMUS_WAN_LANES"));
  EXPECT_THAT(status.message(), HasSubstr("4000"));
  EXPECT_THAT(status.message(), HasSubstr("0..64"));
}

TEST(Environment, UnknownNameGetsTheNearestOne) {
  Variable wrong("ISTHMUS_WAN_LANE", "4");
  const Status status = options_from_environment(Options{}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("ISTHMUS_WAN_LANE,"));
  EXPECT_THAT(status.message(), HasSubstr("did you mean ISTHMUS_WAN_LANES?"));
}

TEST(Environment, OtherNamesAreNoneOfOurBusiness) {
  Variable other("ISTHMUSES", "1");
  EXPECT_TRUE(options_from_environment(Options{}).ok());
  EXPECT_EQ(environment_value("ISTHMUSES"), "1");
  EXPECT_EQ(environment_value("ISTHMUSES_NOT"), std::nullopt);
}

}  // namespace
}  // namespace isthmus
