#include "collectives/plan/sites_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using testing::HasSubstr;

Result<Network> parse(std::string_view text) { return parse_sites_file(text, "sites.toml", {}); }

TEST(SitesFile, ReadsLinesAndPaths) {
  const Result<Network> network = parse(R"(
mtu = 9000
queue = "50ms"
[[site]]
name = "oslo"
ranks = 2
up = "20mbit"
down = "80mbit"
[[site]]
[[site]]
name = "rome"
rate = "unlimited"
nat = true
[[link]]
between = ["oslo", "rome"]
rtt = "40ms"
loss = "0.1%"
jitter = "2ms"
[[link]]
between = ["b", "rome"]
delay = "5ms"
rate = "8mbit"
)");
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ASSERT_EQ(network->site_count(), 3);
  EXPECT_EQ(network->sites[0].name, "oslo");
  EXPECT_EQ(network->sites[0].rank_count, 2);
  EXPECT_EQ(network->sites[0].up_bytes_per_sec, 2'500'000);
  EXPECT_EQ(network->sites[0].down_bytes_per_sec, 10'000'000);
  EXPECT_EQ(network->sites[1].name, "b");
  EXPECT_EQ(network->sites[1].up_bytes_per_sec, 12'500'000);
  EXPECT_EQ(network->sites[2].up_bytes_per_sec, kMaxPlannedRate);
  EXPECT_EQ(network->path(0, 2).delay_us, 20'000);
  EXPECT_EQ(network->path(2, 0).loss_ppm, 1000);
  EXPECT_EQ(network->path(0, 1).delay_us, 30'000);
  EXPECT_EQ(network->path(1, 2).delay_us, 5'000);
  EXPECT_EQ(network->path(1, 2).bytes_per_sec, 1'000'000);
  EXPECT_EQ(network->payload_ppm, payload_share_ppm(9000));
}

TEST(SitesFile, SaysWhereAMistakeIs) {
  const auto message = [](std::string_view text) { return parse(text).status().message(); };
  EXPECT_THAT(message("[[site]]\nrate = \"fast\"\n"), HasSubstr("sites.toml:2: site[0].rate: "));
  EXPECT_THAT(message("[[site]]\nspeed = 3\n"), HasSubstr("site[0].speed: unknown key; known here: name, ranks"));
  EXPECT_THAT(message("[[site]]\nname = \"a\"\n[[site]]\nname = \"a\"\n"), HasSubstr("'a' is the name of another"));
  EXPECT_THAT(message("[[site]]\n[[link]]\nbetween = [\"a\", \"x\"]\n"), HasSubstr("'x' is not a site; sites: a"));
  EXPECT_THAT(message("[[site]]\n[[site]]\n[[link]]\nbetween = [\"a\", \"b\"]\nloss = \"100%\"\n"),
              HasSubstr("leaves nothing"));
  EXPECT_THAT(message("mtu = 1500\n"), HasSubstr("give 1 to 4096 tables [[site]]"));
  EXPECT_THAT(message("site = 3\n"), HasSubstr("write it as [[site]]"));
  EXPECT_THAT(message("[[site\n"), HasSubstr("sites.toml:"));
}

TEST(SitesFile, AFileThatIsNotThere) {
  EXPECT_THAT(load_sites_file("/nowhere/sites.toml", {}).status().message(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace isthmus
