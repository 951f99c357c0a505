#include "benchmarks/lab/control_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/lab/sysctl.h"
#include "tests/benchmarks/lab/packets.h"

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ControlCommandTest : public testing::Test {
 protected:
  ControlCommandTest() {
    TopologyDefaults defaults;
    defaults.site_count = 3;
    pool_ = PacketPool::create(1500, 16).value();
    wan_.emplace(uniform_topology(defaults), *pool_, 1, false);
  }

  Result<std::string> ask(std::string_view line) {
    return run_control_command(split_words(line), *wan_, ForwarderCounters(), 1s);
  }

  std::unique_ptr<PacketPool> pool_;
  std::optional<Wan> wan_;
};

TEST_F(ControlCommandTest, ChangesLines) {
  EXPECT_TRUE(ask("rate a 20mbit up").ok());
  EXPECT_TRUE(ask("rate all 30mbit down").ok());
  EXPECT_EQ(wan_->up_line(0).rate_bits_per_sec(), 20'000'000);
  EXPECT_EQ(wan_->up_line(1).rate_bits_per_sec(), 100'000'000);
  EXPECT_EQ(wan_->down_line(2).rate_bits_per_sec(), 30'000'000);
  EXPECT_TRUE(ask("rate b unlimited").ok());
  EXPECT_EQ(wan_->up_line(1).rate_bits_per_sec(), kUnlimitedRate);
}

TEST_F(ControlCommandTest, ChangesPairsInBothDirections) {
  EXPECT_TRUE(ask("delay a b 45ms").ok());
  EXPECT_TRUE(ask("jitter c all 3ms").ok());
  EXPECT_TRUE(ask("loss all all 1%").ok());
  EXPECT_EQ(wan_->topology().pair(1, 0).delay, 45ms);
  EXPECT_EQ(wan_->topology().pair(0, 2).delay, 30ms);
  EXPECT_EQ(wan_->topology().pair(0, 2).jitter, 3ms);
  EXPECT_EQ(wan_->topology().pair(0, 1).jitter, 0ms);
  EXPECT_DOUBLE_EQ(wan_->topology().pair(2, 1).loss, 0.01);
}

TEST_F(ControlCommandTest, CutsAndHeals) {
  EXPECT_THAT(*ask("cut a b"), HasSubstr("a - b: delay 30ms one way, jitter 0ms, loss 0%, cut"));
  EXPECT_TRUE(ask("cut c").ok());
  EXPECT_TRUE(wan_->is_cut(1, 0));
  EXPECT_TRUE(wan_->is_cut(0, 2));
  EXPECT_TRUE(ask("heal a b").ok());
  EXPECT_FALSE(wan_->is_cut(0, 1));
  EXPECT_TRUE(wan_->is_cut(1, 2));
  EXPECT_TRUE(ask("cut all all").ok());
  EXPECT_TRUE(ask("heal").ok());
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) EXPECT_FALSE(wan_->is_cut(from, to));
  }
}

TEST_F(ControlCommandTest, SaysWhatIsWrong) {
  EXPECT_THAT(ask("").status().message(), HasSubstr("commands:"));
  EXPECT_THAT(ask("sever a").status().message(), HasSubstr("'sever' is not a command"));
  EXPECT_THAT(ask("cut").status().message(), HasSubstr("usage: cut A [B]"));
  EXPECT_THAT(ask("cut d").status().message(), HasSubstr("sites: all, a, b, c"));
  EXPECT_THAT(ask("cut a a").status().message(), HasSubstr("no pair"));
  EXPECT_THAT(ask("rate a 5").status().message(), HasSubstr("8kbit to 100gbit"));
  EXPECT_THAT(ask("rate a 5mbit left").status().message(), HasSubstr("up, down or both"));
  EXPECT_THAT(ask("delay a b 20s").status().message(), HasSubstr("0ms to 10s"));
  EXPECT_THAT(ask("loss a b 2").status().message(), HasSubstr("0% to 100%"));
  EXPECT_EQ(ask("show")->find("cut"), std::string::npos);
}

TEST_F(ControlCommandTest, ListsAndCapsFlows) {
  EXPECT_THAT(ask("flow-cap 0 1mbit").status().message(), HasSubstr("'0' is not a flow: `ctl flows` lists 0"));
  const auto bytes = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kSyn);
  const PacketId packet = pool_->take();
  std::copy(bytes.begin(), bytes.end(), pool_->data(packet));
  pool_->length_bytes(packet) = static_cast<std::uint32_t>(bytes.size());
  wan_->send(0, 1, packet, TimePoint(1s), TimePoint(1s));
  EXPECT_THAT(*ask("flows"), HasSubstr("a:5000 -> b:80"));
  EXPECT_THAT(*ask("flow-cap 0 1mbit"), HasSubstr("1mbit"));
  EXPECT_THAT(*ask("flows --json"), HasSubstr(R"("sent_bytes": 40, "answered_bytes": 0, "cap_bits_per_sec": 1000000)"));
  EXPECT_TRUE(ask("flow-cap 0 unlimited").ok());
  EXPECT_THAT(*ask("flows --json"), HasSubstr(R"("cap_bits_per_sec": null)"));
  EXPECT_FALSE(ask("flow-cap 0x 1mbit").ok());
}

TEST_F(ControlCommandTest, ShowsCounters) {
  const PacketId packet = pool_->take();
  pool_->length_bytes(packet) = 1000;
  wan_->send(0, 1, packet, TimePoint(1s), TimePoint(1s));
  EXPECT_THAT(*ask("stats"), HasSubstr("a -> b"));
  EXPECT_THAT(*ask("stats --json"),
              HasSubstr(R"("from": "a", "to": "b", "delay_us": 30000, "jitter_us": 0, "loss": 0, )"
                        R"("wire_packets": 1, "wire_bytes": 1000)"));
  EXPECT_FALSE(ask("stats --xml").ok());
}

}  // namespace
}  // namespace isthmus::lab
