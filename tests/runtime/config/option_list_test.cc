#include "runtime/config/option_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/config/option_table.h"

namespace isthmus {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OptionList, TextHasEveryOptionWithItsValue) {
  Options options;
  options.wan_lanes = 9;
  options.secret = "marker";
  const std::string page = options_as_text(options);
  for (const OptionRow& row : option_table()) {
    EXPECT_THAT(page, HasSubstr(std::string(row.variable)));
    EXPECT_THAT(page, HasSubstr(std::string(row.sentence)));
  }
  EXPECT_THAT(page, HasSubstr("wan_lanes = 9   [default: 0]"));
  EXPECT_THAT(page, HasSubstr("chunk_bytes = 262144\n"));
  EXPECT_THAT(page, HasSubstr("secret = (set)"));
  EXPECT_THAT(page, Not(HasSubstr("marker")));
}

TEST(OptionList, MarkdownHasOneRowOfFiveCellsPerOption) {
  const std::string page = options_as_markdown();
  EXPECT_EQ(static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')), option_table().size() + 2);
  EXPECT_EQ(static_cast<std::size_t>(std::count(page.begin(), page.end(), '|')), 6 * (option_table().size() + 2));
}

}  // namespace
}  // namespace isthmus
