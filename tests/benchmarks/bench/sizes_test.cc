#include "benchmarks/bench/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sizes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_size("64MiB"), 64u << 20);
  EXPECT_EQ(*parse_size("64M"), 64u << 20);
  EXPECT_EQ(*parse_size("1.5K"), 1536u);
  EXPECT_EQ(*parse_size("100kB"), 100'000u);
  EXPECT_EQ(*parse_size("2GB"), 2'000'000'000u);
  EXPECT_EQ(*parse_size("17"), 17u);
  EXPECT_EQ(*parse_size("17B"), 17u);
}

TEST(Sizes, RefusesTheRestWithWhatWouldBeRight) {
  for (const char* bad : {"", "MiB", "-1", "1 MiB", "1mib", "nan", "2000GiB", "1MiBs"}) {
    const auto parsed = parse_size(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_THAT(parsed.status().message(), HasSubstr("KiB, MiB, GiB"));
  }
}

TEST(Sizes, WritesWhatItReads) {
  for (const char* text : {"64MiB", "1KiB", "1000", "3GiB", "1536", "0"})
    EXPECT_EQ(format_size(*parse_size(text)), text);
}

TEST(Sizes, SweepsUpToTheLargest) {
  EXPECT_THAT(*sweep_sizes(1024, 10'000, 3), ElementsAre(1024u, 3072u, 9216u));
  EXPECT_THAT(*sweep_sizes(8, 8, 2), ElementsAre(8u));
  EXPECT_FALSE(sweep_sizes(0, 8, 2).ok());
  EXPECT_FALSE(sweep_sizes(16, 8, 2).ok());
  EXPECT_FALSE(sweep_sizes(4, 8, 1).ok());
}

}  // namespace
}  // namespace isthmus::bench
