#include "runtime/config/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Units, ReadsRates) {
  EXPECT_EQ(*parse_rate("100mbit"), 100'000'000);
  EXPECT_EQ(*parse_rate("1.5gbit"), 1'500'000'000);
  EXPECT_EQ(*parse_rate("64kbit"), 64'000);
  EXPECT_EQ(*parse_rate("9600bit"), 9'600);
  EXPECT_EQ(*parse_rate("unlimited"), kUnlimitedRate);
}

TEST(Units, RefusesRatesWithTheRange) {
  for (const char* bad : {"", "100", "0mbit", "-1mbit", "1tbit", "200gbit", "mbit", "1 mbit", "nanmbit", "1kbit"}) {
    const auto parsed = parse_rate(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_THAT(parsed.status().message(), HasSubstr("8kbit to 100gbit"));
  }
}

TEST(Units, ReadsDurations) {
  EXPECT_EQ(*parse_duration("60ms", kMaxDelay), 60ms);
  EXPECT_EQ(*parse_duration("1.5s", kMaxDelay), 1500ms);
  EXPECT_EQ(*parse_duration("200us", kMaxDelay), 200us);
  EXPECT_EQ(*parse_duration("0", kMaxDelay), 0ms);
  EXPECT_FALSE(parse_duration("60", kMaxDelay).ok());
  EXPECT_FALSE(parse_duration("-1ms", kMaxDelay).ok());
  EXPECT_THAT(parse_duration("11s", kMaxDelay).status().message(), HasSubstr("0ms to 10s"));
}

TEST(Units, ReadsFractions) {
  EXPECT_DOUBLE_EQ(*parse_fraction("0.1%"), 0.001);
  EXPECT_DOUBLE_EQ(*parse_fraction("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_fraction("100%"), 1);
  for (const char* bad : {"", "1.5", "101%", "-1%", "1%%", "one"}) EXPECT_FALSE(parse_fraction(bad).ok()) << bad;
}

TEST(Units, WritesWhatItReads) {
  for (const char* rate : {"100mbit", "1.5gbit", "64kbit", "unlimited"})
    EXPECT_EQ(format_rate(*parse_rate(rate)), rate);
  for (const char* time : {"60ms", "1.5s", "0.2ms"}) EXPECT_EQ(format_duration(*parse_duration(time, 10s)), time);
  EXPECT_EQ(format_fraction(0.001), "0.1%");
}

}  // namespace
}  // namespace isthmus
