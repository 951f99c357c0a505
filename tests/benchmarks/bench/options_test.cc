#include "benchmarks/bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

BenchOptions parsed(const std::vector<std::string>& words) {
  const ParsedLine line = parse_command_line(words);
  EXPECT_TRUE(line.options.has_value()) << line.text;
  return line.options.value_or(BenchOptions());
}

TEST(BenchOptions, ReadsAll) {
  const BenchOptions options = parsed({"reduce_scatter",
                                       "--size",
                                       "64MiB",
                                       "--iters",
                                       "5",
                                       "--warmup",
                                       "2",
                                       "--dtype",
                                       "bf16",
                                       "--op",
                                       "max",
                                       "--together",
                                       "100",
                                       "--gap",
                                       "1s",
                                       "--start",
                                       "clock",
                                       "--check-all",
                                       "--json",
                                       "--line-rate",
                                       "200mbit",
                                       "--timeout",
                                       "10s",
                                       "--expect-ranks",
                                       "4"});
  EXPECT_EQ(options.run_case, Case::kReduceScatter);
  EXPECT_THAT(options.sizes_bytes, ElementsAre(64u << 20));
  EXPECT_EQ(options.iterations, 5);
  EXPECT_EQ(options.warmup, 2);
  EXPECT_EQ(options.dtype, DataType::kBFloat16);
  EXPECT_EQ(options.op, ReduceOp::kMax);
  EXPECT_EQ(options.together, 100);
  EXPECT_EQ(options.gap, 1s);
  EXPECT_EQ(options.start, Start::kClock);
  EXPECT_EQ(options.check, Check::kAll);
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.line_rate_bits_per_sec, 200'000'000);
  EXPECT_EQ(options.timeout, 10s);
  EXPECT_EQ(options.expect_ranks, 4);
}

TEST(BenchOptions, SweepsAndSpellings) {
  EXPECT_THAT(parsed({"allreduce", "--min", "1K", "--max", "4K", "--factor", "2"}).sizes_bytes,
              ElementsAre(1024u, 2048u, 4096u));
  EXPECT_EQ(parsed({"allreduce", "--dtype", "f64"}).dtype, DataType::kFloat64);
  EXPECT_EQ(parsed({"allreduce", "--count-together", "3"}).together, 3);
  EXPECT_EQ(parsed({"allreduce", "--no-check"}).check, Check::kNone);
  EXPECT_EQ(parsed({"allreduce"}).check, Check::kLast);
}

TEST(BenchOptions, RefusesWithTheReason) {
  const auto text = [](const std::vector<std::string>& words) {
    const ParsedLine line = parse_command_line(words);
    EXPECT_FALSE(line.options.has_value());
    EXPECT_EQ(line.exit_status, 2);
    return line.text;
  };
  EXPECT_THAT(text({}), HasSubstr("case is required"));
  EXPECT_THAT(text({"alltosome"}), HasSubstr("allreduce, broadcast"));
  EXPECT_THAT(text({"allreduce", "--dtype", "fp8"}), HasSubstr("bf16"));
  EXPECT_THAT(text({"allreduce", "--op", "mean"}), HasSubstr("avg"));
  EXPECT_THAT(text({"allreduce", "--size", "big"}), HasSubstr("MiB"));
  EXPECT_THAT(text({"allreduce", "--min", "1K"}), HasSubstr("--max"));
  EXPECT_THAT(text({"allreduce", "--gap", "1"}), HasSubstr("'1'"));
  EXPECT_THAT(text({"allreduce", "--start", "noon"}), HasSubstr("'noon' is not one of back-to-back barrier clock"));
  EXPECT_THAT(text({"allreduce", "--timeout", "0s"}), HasSubstr("--timeout"));
  EXPECT_THAT(text({"allreduce", "--iters", "0"}), HasSubstr("--iters"));
}

TEST(BenchOptions, HelpIsNoError) {
  const ParsedLine line = parse_command_line({"--help"});
  EXPECT_EQ(line.exit_status, 0);
  EXPECT_THAT(line.text, HasSubstr("--together"));
}

}  // namespace
}  // namespace isthmus::bench
