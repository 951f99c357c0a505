#include "benchmarks/lab/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kTwoSites = "[[site]]\nname = \"oslo\"\n[[site]]\nname = \"rome\"\n";

Result<Topology> parse(const std::string& text) { return parse_topology(text, "lab.toml", TopologyDefaults()); }

TEST(TopologyFile, ReadsEveryKey) {
  const auto topology = parse(R"(
mtu = 9000
queue = "20ms"
[[site]]
name = "oslo"
ranks = 2
rate = "200mbit"
[[site]]
name = "rome"
up = "20mbit"
down = "1gbit"
[[site]]
[[link]]
between = ["oslo", "rome"]
rtt = "80ms"
jitter = "2ms"
loss = "0.5%"
[[link]]
between = ["rome", "c"]
delay = "7ms"
)");
  ASSERT_TRUE(topology.ok()) << topology.status().to_string();
  EXPECT_EQ(topology->mtu, 9000);
  EXPECT_EQ(topology->queue, 20ms);
  EXPECT_EQ(topology->world_size(), 4);
  EXPECT_EQ(topology->sites[0].up_bits_per_sec, 200'000'000);
  EXPECT_EQ(topology->sites[0].down_bits_per_sec, 200'000'000);
  EXPECT_EQ(topology->sites[1].up_bits_per_sec, 20'000'000);
  EXPECT_EQ(topology->sites[1].down_bits_per_sec, 1'000'000'000);
  EXPECT_EQ(topology->pair(1, 0).delay, 40ms);
  EXPECT_EQ(topology->pair(0, 1).jitter, 2ms);
  EXPECT_DOUBLE_EQ(topology->pair(0, 1).loss, 0.005);
  EXPECT_EQ(topology->pair(2, 1).delay, 7ms);
  EXPECT_EQ(topology->pair(0, 2).delay, TopologyDefaults().pair.delay);
}

struct BadFile {
  std::string text;
  std::string place;
  std::string advice;
};

TEST(TopologyFile, SaysWhereAndWhatIsWrong) {
  const std::string sites = kTwoSites;
  const BadFile files[] = {
      {"", "lab.toml:1: site", "1 to 200 tables [[site]]"},
      {"[[site]\n", "lab.toml:1", ""},
      {sites + "[[site]]\nname = \"oslo\"\n", "lab.toml:6: site[2].name", "site[0]"},
      {"[[site]]\nname = \"a b\"\n", "lab.toml:2: site[0].name", "letters"},
      {"[[site]]\nname = \"all\"\n", "lab.toml:2: site[0].name", "another name"},
      {"[[site]]\nranks = 0\n", "lab.toml:2: site[0].ranks", "1 to 256"},
      {"[[site]]\nranks = \"2\"\n", "lab.toml:2: site[0].ranks", "whole number"},
      {"[[site]]\nup = 100\n", "lab.toml:2: site[0].up", "give a string"},
      {"[[site]]\nup = \"100\"\n", "lab.toml:2: site[0].up", "8kbit to 100gbit"},
      {"[[site]]\nupp = \"1mbit\"\n", "lab.toml:2: site[0].upp",
       "known here: name, ranks, rate, up, down, inbound_ports, nat, nat_forward"},
      {"[[site]]\ninbound_ports = \"\"\n", "lab.toml:2: site[0].inbound_ports", "a range of ports"},
      {"[[site]]\nnat = 1\n", "lab.toml:2: site[0].nat", "true or false"},
      {"[[site]]\nnat_forward = [\"1\"]\n", "lab.toml:2: site[0].nat_forward", "nat = true"},
      {"[[site]]\nnat = true\nnat_forward = [\"1-3:5-6\"]\n", "lab.toml:3: site[0].nat_forward", "same length"},
      {"mtu = 100\n" + sites, "lab.toml:1: mtu", "1280 to 9216"},
      {"queue = \"1min\"\n" + sites, "lab.toml:1: queue", "0ms to 10s"},
      {"site = 3\n", "lab.toml:1: site", "[[site]]"},
      {sites + "[[link]]\nrtt = \"1ms\"\n", "link[0].between", "two names"},
      {sites + "[[link]]\nbetween = [\"oslo\", \"bonn\"]\n", "lab.toml:6: link[0].between", "sites: oslo, rome"},
      {sites + "[[link]]\nbetween = [\"oslo\", \"oslo\"]\n", "lab.toml:6: link[0].between", "different"},
      {sites + "[[link]]\nbetween = [\"oslo\", \"rome\"]\nrtt = \"1ms\"\ndelay = \"1ms\"\n", "link[0].delay",
       "not both"},
      {sites + "[[link]]\nbetween = [\"oslo\", \"rome\"]\nloss = \"2\"\n", "lab.toml:7: link[0].loss", "0% to 100%"},
  };
  for (const BadFile& file : files) {
    const auto topology = parse(file.text);
    ASSERT_FALSE(topology.ok()) << file.text;
    EXPECT_THAT(topology.status().message(), AllOf(HasSubstr(file.place), HasSubstr(file.advice))) << file.text;
  }
}

TEST(TopologyFile, ReadsFiltersAndNat) {
  const auto topology = parse(
      "[[site]]\ninbound_ports = \"40000-40050\"\n[[site]]\nnat = true\nnat_forward = [\"40000-40010\", "
      "\"80:8080\"]\n");
  ASSERT_TRUE(topology.ok()) << topology.status().to_string();
  EXPECT_EQ(topology->sites[0].inbound_ports->high, 40050);
  EXPECT_FALSE(topology->sites[0].nat.enabled);
  EXPECT_FALSE(topology->sites[1].inbound_ports);
  ASSERT_EQ(topology->sites[1].nat.forwards.size(), 2u);
  EXPECT_EQ(topology->sites[1].nat.forwards[0].to_low, 40000);
  EXPECT_EQ(topology->sites[1].nat.forwards[1].from.low, 80);
  EXPECT_EQ(topology->sites[1].nat.forwards[1].to_low, 8080);
}

TEST(TopologyFile, SaysThatAFileIsMissing) {
  EXPECT_THAT(load_topology("/nonexistent/lab.toml", TopologyDefaults()).status().message(),
              HasSubstr("--topology /nonexistent/lab.toml"));
}

}  // namespace
}  // namespace isthmus::lab
