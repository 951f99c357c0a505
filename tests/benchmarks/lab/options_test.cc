#include "benchmarks/lab/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/lab/sysctl.h"

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

ParsedLine parse(std::string_view line) { return parse_command_line(split_words(line)); }

TEST(Options, ReadsTheCommandLineOfTheReadme) {
  const ParsedLine line = parse(
      "--sites 3 --ranks-per-site 2 --rate 100mbit --rtt 60ms --loss 0.1% --jitter 2ms --congestion cubic --mtu 9000 "
      "--queue 20ms --grace 5s --timeout 1.5s --stats-json out.json -- python3 train.py --steps 5 -- more");
  ASSERT_TRUE(line.options) << line.text;
  const LabOptions& options = *line.options;
  EXPECT_EQ(options.topology.site_count(), 3);
  EXPECT_EQ(options.topology.world_size(), 6);
  EXPECT_EQ(options.topology.sites[2].down_bits_per_sec, 100'000'000);
  EXPECT_EQ(options.topology.pair(0, 2).delay, 30ms);
  EXPECT_EQ(options.topology.pair(0, 2).jitter, 2ms);
  EXPECT_DOUBLE_EQ(options.topology.pair(0, 2).loss, 0.001);
  EXPECT_EQ(options.topology.queue, 20ms);
  EXPECT_EQ(options.topology.mtu, 9000);
  EXPECT_EQ(options.congestion, "cubic");
  EXPECT_EQ(options.grace, 5s);
  EXPECT_EQ(options.timeout, 1500ms);
  EXPECT_THAT(options.command, ElementsAre("python3", "train.py", "--steps", "5", "--", "more"));
}

TEST(Options, FlatHasOneSite) {
  const ParsedLine line = parse("--sites 3 --ranks-per-site 2 --flat -- true");
  ASSERT_TRUE(line.options);
  EXPECT_EQ(line.options->topology.site_count(), 1);
  EXPECT_EQ(line.options->topology.world_size(), 6);
}

TEST(Options, NamesTheOptionAndItsRange) {
  const std::pair<const char*, const char*> lines[] = {
      {"--sites 0 -- true", "--sites"},
      {"--sites 201 -- true", "200"},
      {"--ranks-per-site x -- true", "--ranks-per-site"},
      {"--rate fast -- true", "--rate: 'fast' is not a rate: give 8kbit to 100gbit"},
      {"--rtt 60 -- true", "--rtt: '60' is not a time: give 0ms to 10s"},
      {"--loss 200% -- true", "--loss: '200%' is not a fraction"},
      {"--mtu 100 -- true", "9216"},
      {"--congestion vegas -- true", "--congestion"},
      {"--topology /nonexistent.toml -- true", "--topology /nonexistent.toml: cannot read"},
      {"--speed 3 -- true", "--speed"},
      {"--sites 2", "put it after --"},
      {"--sites 2 --", "put it after --"},
  };
  for (const auto& [words, text] : lines) {
    const ParsedLine line = parse(words);
    EXPECT_FALSE(line.options) << words;
    EXPECT_EQ(line.exit_status, 2) << words;
    EXPECT_THAT(line.text, HasSubstr(text)) << words;
  }
}

TEST(Options, HelpAndVersionEndWell) {
  EXPECT_EQ(parse("--help").exit_status, 0);
  EXPECT_THAT(parse("--help").text, HasSubstr("--ranks-per-site"));
  EXPECT_EQ(parse("--version").exit_status, 0);
  EXPECT_FALSE(parse("--version").options);
}

}  // namespace
}  // namespace isthmus::lab
