#include "runtime/config/option_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(OptionAccess, EveryOptionReadsBackWhatItWrites) {
  for (const OptionRow& row : option_table()) {
    Options options;
    const auto text = get_option(options, row.name);
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(set_option(options, row.name, *text).ok()) << row.name << " = " << *text;
    EXPECT_EQ(*get_option(options, row.name), *text) << row.name;
  }
}

TEST(OptionAccess, SE03_ASecretIsShownNowhere) {
  Options options;
  EXPECT_EQ(*get_option(options, "secret"), "");
  EXPECT_TRUE(set_option(options, "secret", "marker").ok());
  EXPECT_EQ(options.secret, "marker");
  EXPECT_EQ(*get_option(options, "secret"), "(set)");
  EXPECT_TRUE(check_options(options).ok());
  options.secret = "mar ker";
  for (const Status& status : {check_options(options), set_option(options, "secret", "mar ker")}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("option secret"));
    EXPECT_THAT(status.message(), Not(HasSubstr("mar ker")));
  }
}

TEST(OptionAccess, SetsFieldsOfEveryType) {
  Options options;
  EXPECT_TRUE(set_option(options, "site", "oslo").ok());
  EXPECT_TRUE(set_option(options, "chunk_bytes", "65536").ok());
  EXPECT_TRUE(set_option(options, "algorithm", "ring").ok());
  EXPECT_EQ(options.site, "oslo");
  EXPECT_EQ(options.chunk_bytes, 65536);
  EXPECT_EQ(options.algorithm, "ring");
}

TEST(OptionAccess, LimitsAreInclusiveAndHold) {
  Options options;
  EXPECT_TRUE(set_option(options, "wan_lanes", "1").ok());
  EXPECT_TRUE(set_option(options, "wan_lanes", "0").ok());
  EXPECT_TRUE(set_option(options, "wan_lanes", "64").ok());
  EXPECT_FALSE(set_option(options, "wan_lanes", "-1").ok());
  EXPECT_FALSE(set_option(options, "wan_lanes", "65").ok());
  EXPECT_FALSE(set_option(options, "wan_lanes", "4x").ok());
  EXPECT_FALSE(set_option(options, "wan_lanes", "").ok());
  EXPECT_EQ(options.wan_lanes, 64);
}

TEST(OptionAccess, ABadChoiceListsTheChoices) {
  Options options;
  const Status status = set_option(options, "algorithm", "star");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("\"star\""));
  EXPECT_THAT(status.message(), HasSubstr("auto, exchange, direct, ring"));
  EXPECT_FALSE(set_option(options, "algorithm", "auto|ring").ok());
  EXPECT_FALSE(set_option(options, "algorithm", "").ok());
}

TEST(OptionAccess, AnUnknownNameGetsTheNearest) {
  Options options;
  EXPECT_THAT(set_option(options, "chunk_byte", "1").message(), HasSubstr("did you mean chunk_bytes?"));
  EXPECT_THAT(get_option(options, "sight").status().message(), HasSubstr("did you mean site?"));
}

TEST(OptionAccess, FormsOfTextsAreChecked) {
  Options options;
  EXPECT_FALSE(set_option(options, "advertise_address", "gateway.example").ok());
  EXPECT_TRUE(set_option(options, "advertise_address", "2001:db8::1").ok());
  EXPECT_FALSE(set_option(options, "port_range", "50-40").ok());
  EXPECT_TRUE(set_option(options, "port_range", "40000-40050").ok());
  EXPECT_FALSE(set_option(options, "site", "new york").ok());
}

TEST(OptionAccess, DefaultsObeyTheirOwnRules) {
  EXPECT_TRUE(check_options(Options{}).ok());
  EXPECT_THAT(option_warnings(Options{}), IsEmpty());
}

TEST(OptionAccess, RulesBetweenOptionsNameBothValues) {
  Options options;
  options.chunk_bytes = 16384;
  Status status = check_options(options);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("segment_bytes (262144)"));
  EXPECT_THAT(status.message(), HasSubstr("chunk_bytes (16384)"));

  options = Options{};
  options.suspect_ms = options.link_grace_ms;
  EXPECT_THAT(check_options(options).message(),
              HasSubstr("suspect_ms (30000) must be less than link_grace_ms (30000)"));

  options = Options{};
  options.heartbeat_ms = 5000;
  EXPECT_THAT(check_options(options).message(), HasSubstr("heartbeat_ms (5000)"));
}

TEST(OptionAccess, FieldsSetInCodeAreCheckedToo) {
  Options options;
  options.wan_lanes = 65;
  EXPECT_THAT(check_options(options).message(), HasSubstr("option wan_lanes: \"65\""));
}

TEST(OptionAccess, ATimeoutBelowTheGraceIsAWarning) {
  Options options;
  options.timeout_ms = 20'000;
  EXPECT_TRUE(check_options(options).ok());
  EXPECT_THAT(option_warnings(options),
              ElementsAre(HasSubstr("timeout_ms (20000) is shorter than link_grace_ms (30000)")));
}

}  // namespace
}  // namespace isthmus
