#include "benchmarks/bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Example {
  BenchOptions options;
  WorldInfo world{"RANK/WORLD_SIZE", {"a", "a", "b", "b"}, {"oslo", "oslo", "rome", "rome"}, 2, "libfabric", "1.17"};
  Measurement measured;
  LaneSummary lanes{4, "bbr"};

  Example() {
    options.line_rate_bits_per_sec = 100'000'000;
    measured.call = {2'500'000, 10'000'000};
    measured.times_us = {1.2e6, 1e6, 0.9e6};
    measured.slowest_us = {1.3e6, 1.1e6, 1e6};
    measured.checked_iterations = 2;
    measured.wan_sent_bytes = 77;
  }
};

TEST(Report, JsonHasEveryField) {
  Example e;
  const std::string line = json_line(e.options, e.world, e.measured, e.lanes);
  for (const char* field : {"\"case\": \"allreduce\"",
                            "\"size_bytes\": 10000000",
                            "\"count\": 2500000",
                            "\"dtype\": \"fp32\"",
                            "\"op\": \"sum\"",
                            "\"ranks\": 4",
                            "\"sites\": 2",
                            "\"time_us_min\": 900000.0",
                            "\"time_us_p50\": 1000000.0",
                            "\"time_us_p99\": 1200000.0",
                            "\"time_us_slowest_p50\": 1100000.0",
                            "\"algbw_bytes_per_sec\": 10000000.0",
                            "\"busbw_bytes_per_sec\": 15000000.0",
                            "\"line_fill\": 0.8000",
                            "\"wrong\": 0",
                            "\"transport\": \"libfabric\"",
                            "\"lanes\": 4",
                            "\"congestion\": \"bbr\"",
                            "\"together\": 1",
                            "\"gap_us\": 0",
                            "\"start\": \"back-to-back\"",
                            "\"wan_sent_bytes\": 77",
                            "\"hosts\": [\"a\", \"a\", \"b\", \"b\"]",
                            "\"launcher\": \"RANK/WORLD_SIZE\""})
    EXPECT_THAT(line, HasSubstr(field));
  EXPECT_EQ(line.front(), '{');
  EXPECT_EQ(line.substr(line.size() - 2), "}\n");
}

TEST(Report, JsonEscapesNames) {
  Example e;
  e.world.sites[0] = "a\"b\\c\n";
  EXPECT_THAT(json_line(e.options, e.world, e.measured, e.lanes), HasSubstr(R"("a\"b\\c\u000a")"));
}

TEST(Report, UncheckedResultsAreNotCalledRight) {
  Example e;
  e.measured.checked_iterations = 0;
  EXPECT_THAT(json_line(e.options, e.world, e.measured, e.lanes), HasSubstr("\"wrong\": null"));
}

TEST(Report, ALineNeedsARateAndSites) {
  Example e;
  EXPECT_THAT(table_row(e.options, e.world, e.measured, e.lanes), HasSubstr(" 80.0 "));
  e.world.site_count = 1;
  EXPECT_THAT(json_line(e.options, e.world, e.measured, e.lanes), HasSubstr("\"line_fill\": null"));
  EXPECT_THAT(table_row(e.options, e.world, e.measured, e.lanes), Not(HasSubstr("80.0")));
}

TEST(Report, HeaderNamesTheWorld) {
  Example e;
  const std::string header = table_header(e.options, e.world);
  EXPECT_THAT(header, HasSubstr("4 ranks, 2 sites, 2 hosts"));
  EXPECT_THAT(header, HasSubstr("rank 0-1"));
  EXPECT_THAT(header, HasSubstr("rome"));
}

}  // namespace
}  // namespace isthmus::bench
