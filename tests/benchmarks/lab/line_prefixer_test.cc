#include "benchmarks/lab/line_prefixer.h"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(LinePrefixer, PrefixesWholeLines) {
  LinePrefixer prefixer("[a.r0] ");
  EXPECT_EQ(prefixer.feed("one\ntwo\nthr"), "[a.r0] one\n[a.r0] two\n");
  EXPECT_EQ(prefixer.feed("ee\n\n"), "[a.r0] three\n[a.r0] \n");
  EXPECT_EQ(prefixer.flush(), "");
}

TEST(LinePrefixer, EndsAnUnfinishedLine) {
  LinePrefixer prefixer("> ");
  EXPECT_EQ(prefixer.feed("no newline"), "");
  EXPECT_EQ(prefixer.flush(), "> no newline\n");
}

TEST(LinePrefixer, GivesOutAnEndlessLineInParts) {
  LinePrefixer prefixer("> ");
  EXPECT_EQ(prefixer.feed(std::string(70'000, 'x')).size(), 70'003u);
}

}  // namespace
}  // namespace isthmus::lab
