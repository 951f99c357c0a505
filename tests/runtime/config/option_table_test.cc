#include "runtime/config/option_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace isthmus {
namespace {

TEST(OptionTable, VariablesAreTheNamesInCapitals) {
  for (const OptionRow& row : option_table()) {
    std::string expected = "ISTHMUS_" + std::string(row.name);
    std::transform(expected.begin(), expected.end(), expected.begin(), [](unsigned char c) { return std::toupper(c); });
    EXPECT_EQ(row.variable, expected);
  }
}

TEST(OptionTable, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const OptionRow& row : option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_option(row.name), &row);
  }
  EXPECT_EQ(find_option("no such option"), nullptr);
}

TEST(OptionTable, EveryRowIsComplete) {
  for (const OptionRow& row : option_table()) {
    EXPECT_FALSE(row.sentence.empty()) << row.name;
    EXPECT_TRUE(row.sentence.ends_with('.')) << row.name;
    EXPECT_FALSE(option_range(row).empty()) << row.name;
    EXPECT_EQ(row.sentence.find('|'), std::string_view::npos) << row.name;
    if (option_type(row) == "integer") {
      EXPECT_LT(row.low, row.high) << row.name;
    }
    // Units are part of the name, so a row and its name cannot disagree.
    if (!row.unit.empty()) {
      EXPECT_TRUE(row.name.ends_with("_" + std::string(row.unit))) << row.name;
    }
  }
}

TEST(OptionTable, TypesAndRangesReadWell) {
  EXPECT_EQ(option_type(*find_option("site")), "text");
  EXPECT_EQ(option_type(*find_option("transport")), "choice");
  EXPECT_EQ(option_type(*find_option("wan_lanes")), "integer");
  EXPECT_EQ(option_range(*find_option("site_tier")), "auto, shm, link");
  EXPECT_EQ(option_range(*find_option("wan_lanes")), "0..64");
  EXPECT_EQ(option_default(*find_option("segment_bytes")), "262144");
}

// One field per row: a struct that grew without its row is found by its size.
TEST(OptionTable, EveryFieldHasItsRow) {
  std::size_t bytes = 0;
  for (const OptionRow& row : option_table()) {
    bytes += std::visit([](auto field) { return sizeof(std::declval<Options>().*field); }, row.field);
  }
  // Bools are last, so padding is only at the end.
  const std::size_t padded = (bytes + alignof(Options) - 1) / alignof(Options) * alignof(Options);
  EXPECT_EQ(padded, sizeof(Options)) << "a field of Options has no row in the table (or padding: order bools last)";
}

TEST(OptionTable, NearestNameHasTheFewestEdits) {
  const std::string_view names[] = {"alpha", "beta", "gamma"};
  EXPECT_EQ(nearest_name("gama", names), "gamma");
  EXPECT_EQ(nearest_name("bet", names), "beta");
  EXPECT_EQ(nearest_name("x", std::span<const std::string_view>{}), "");
}

}  // namespace
}  // namespace isthmus
