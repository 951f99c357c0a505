#include "benchmarks/lab/flow_table.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/lab/packets.h"

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;

TEST(FlowTable, BothDirectionsAreOneFlow) {
  FlowTable table(50ms, 1500);
  auto there = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kSyn);
  auto back = tcp_packet("10.77.1.1", 80, "10.77.0.1", 5000, kAck, 100);
  EXPECT_NE(table.see(0, 1, there), nullptr);
  EXPECT_NE(table.see(1, 0, back), nullptr);
  ASSERT_EQ(table.flows().size(), 1u);
  const Flow& flow = table.flows()[0];
  EXPECT_EQ(flow.opener, 0);
  EXPECT_EQ(flow.other, 1);
  EXPECT_EQ(flow.opener_port, 5000);
  EXPECT_EQ(flow.other_port, 80);
  EXPECT_EQ(flow.from_opener.bytes, there.size());
  EXPECT_EQ(flow.from_other.bytes, back.size());
}

TEST(FlowTable, NumbersConnectionsAsTheyCome) {
  FlowTable table(50ms, 1500);
  for (std::uint16_t port : {5001, 5000, 5002, 5000}) {
    auto packet = tcp_packet("10.77.0.1", port, "10.77.1.1", 80, kAck);
    table.see(0, 1, packet);
  }
  ASSERT_EQ(table.flows().size(), 3u);
  EXPECT_EQ(table.flows()[1].opener_port, 5000);
  EXPECT_EQ(table.flows()[1].from_opener.packets, 2u);
}

TEST(FlowTable, IsOfTcpAndBounded) {
  FlowTable table(50ms, 1500);
  auto udp = udp_packet("10.77.0.1", 1, "10.77.1.1", 80);
  EXPECT_EQ(table.see(0, 1, udp), nullptr);
  for (std::size_t i = 0; i < FlowTable::kMaxFlows + 10; ++i) {
    auto packet = tcp_packet("10.77.0.1", static_cast<std::uint16_t>(i + 1), "10.77.1.1", 80, kAck);
    EXPECT_EQ(table.see(0, 1, packet) != nullptr, i < FlowTable::kMaxFlows);
  }
}

TEST(FlowTable, CapsAreTakenOffAgain) {
  FlowTable table(50ms, 1500);
  auto packet = tcp_packet("10.77.0.1", 5000, "10.77.1.1", 80, kAck);
  FlowDirection* direction = table.see(0, 1, packet);
  EXPECT_FALSE(direction->cap);
  table.set_cap(0, 12'000'000);
  ASSERT_TRUE(direction->cap);
  EXPECT_EQ(*direction->cap->admit(TimePoint(1s), 1500), TimePoint(1s) + 1ms);
  table.set_cap(0, kUnlimitedRate);
  EXPECT_FALSE(direction->cap);
}

}  // namespace
}  // namespace isthmus::lab
