#include "runtime/config/value_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace isthmus {
namespace {

TEST(ValueText, ReadsWholeNumbers) {
  EXPECT_EQ(*parse_integer("0"), 0);
  EXPECT_EQ(*parse_integer("-7"), -7);
  EXPECT_EQ(*parse_integer(value_text(std::numeric_limits<std::int64_t>::max())),
            std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", " 1", "1 ", "+1", "1e3", "0x10", "9223372036854775808", "1.0"}) {
    EXPECT_FALSE(parse_integer(text).ok()) << text;
  }
}

TEST(ValueText, ReadsNumbers) {
  EXPECT_EQ(*parse_number("0.5"), 0.5);
  EXPECT_EQ(*parse_number(value_text(0.1)), 0.1);
  for (const char* text : {"", "nan", "inf", "1,5", "1.0x", "1e999"}) EXPECT_FALSE(parse_number(text).ok()) << text;
}

TEST(ValueText, ReadsSwitches) {
  for (const char* text : {"1", "true", "on", "yes"}) EXPECT_TRUE(*parse_switch(text)) << text;
  for (const char* text : {"0", "false", "off", "no"}) EXPECT_FALSE(*parse_switch(text)) << text;
  for (const char* text : {"", "2", "ON", "y"}) EXPECT_FALSE(parse_switch(text).ok()) << text;
  EXPECT_TRUE(*parse_switch(value_text(true)));
  EXPECT_FALSE(*parse_switch(value_text(false)));
}

}  // namespace
}  // namespace isthmus
