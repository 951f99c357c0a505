#include "benchmarks/lab/wan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/benchmarks/lab/packets.h"

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1s};
constexpr std::uint32_t kFullBytes = 1500;  // 1 ms on the lines here

class WanTest : public testing::Test {
 protected:
  WanTest() {
    TopologyDefaults defaults;
    defaults.site_count = 3;
    defaults.rate_bits_per_sec = 12'000'000;
    topology_ = uniform_topology(defaults);
    pool_ = PacketPool::create(kFullBytes, 10'000).value();
  }

  void build(bool reorder = false) { wan_.emplace(topology_, *pool_, 7, reorder); }

  PacketId send(int from, int to, TimePoint now, std::uint32_t size_bytes = kFullBytes) {
    const PacketId packet = pool_->take();
    pool_->length_bytes(packet) = size_bytes;
    wan_->send(from, to, packet, now, now);
    return packet;
  }

  // Everything that has arrived by `now`, with the times at which it was due.
  std::vector<std::pair<PacketId, TimePoint>> receive(TimePoint now) {
    std::vector<std::pair<PacketId, TimePoint>> out;
    while (wan_->next_event() <= now) {
      const TimePoint due = wan_->next_event();
      const auto delivery = wan_->next_delivery(due);
      if (!delivery) continue;
      out.emplace_back(delivery->packet, due);
      pool_->give_back(delivery->packet);
    }
    return out;
  }

  Topology topology_;
  std::unique_ptr<PacketPool> pool_;
  std::optional<Wan> wan_;
};

TEST_F(WanTest, TakesUpLineDelayAndDownLine) {
  build();
  const PacketId packet = send(0, 1, kStart);
  const auto arrived = receive(kStart + 1s);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived[0].first, packet);
  EXPECT_EQ(arrived[0].second, kStart + 1ms + 30ms + 1ms);
  EXPECT_EQ(wan_->next_event(), kNever);
  EXPECT_EQ(pool_->used_count(), 0u);
}

TEST_F(WanTest, SharesADownLineAmongSenders) {
  build();
  for (int i = 0; i < 20; ++i) {
    send(0, 2, kStart);
    send(1, 2, kStart);
  }
  const auto arrived = receive(kStart + 1s);
  ASSERT_EQ(arrived.size(), 40u);
  EXPECT_EQ(arrived.back().second, kStart + 1ms + 30ms + 40ms);
  EXPECT_EQ(wan_->counters(0, 2).delivered.bytes, 20u * kFullBytes);
  EXPECT_EQ(wan_->counters(1, 2).delivered.packets, 20u);
}

TEST_F(WanTest, DropsAtBothQueues) {
  build();
  for (int i = 0; i < 60; ++i) send(0, 2, kStart);
  EXPECT_EQ(wan_->counters(0, 2).wire.packets, 51u);
  EXPECT_EQ(wan_->counters(0, 2).up_dropped.packets, 9u);
  receive(kStart + 1s);
  wan_->set_down_rate(2, 1'200'000);  // a tenth: 5 packets wait, for 50 ms
  for (int i = 0; i < 30; ++i) send(0, 2, kStart + 2s);
  receive(kStart + 4s);
  const PairCounters& counters = wan_->counters(0, 2);
  EXPECT_GT(counters.down_dropped.packets, 15u);
  EXPECT_EQ(counters.wire.packets, counters.delivered.packets + counters.down_dropped.packets);
  EXPECT_EQ(pool_->used_count(), 0u);
}

TEST_F(WanTest, JitterKeepsTheOrderUnlessToldOtherwise) {
  topology_.pair(0, 1).jitter = 10ms;
  for (const bool reorder : {false, true}) {
    build(reorder);
    std::vector<PacketId> sent;
    for (int i = 0; i < 40; ++i) sent.push_back(send(0, 1, kStart + i * 1ms));
    std::vector<PacketId> got;
    for (const auto& [packet, due] : receive(kStart + 1s)) {
      got.push_back(packet);
      EXPECT_GE(due, kStart + 32ms);
    }
    EXPECT_EQ(got.size(), sent.size());
    EXPECT_EQ(got != sent, reorder);
  }
}

TEST_F(WanTest, ACapHoldsItsFlowAndNoOther) {
  build();
  const auto send_tcp = [&](std::uint16_t port, TimePoint now) {
    const auto bytes = tcp_packet("10.77.0.1", port, "10.77.1.1", 80, kAck, kFullBytes - 40);
    const PacketId packet = pool_->take();
    std::copy(bytes.begin(), bytes.end(), pool_->data(packet));
    pool_->length_bytes(packet) = kFullBytes;
    wan_->send(0, 1, packet, now, now);
    return packet;
  };
  send_tcp(5000, kStart);
  receive(kStart + 1s);
  wan_->set_flow_cap(0, 1'200'000);  // 10 ms for a packet
  std::vector<PacketId> capped;
  for (int i = 0; i < 3; ++i) capped.push_back(send_tcp(5000, kStart + 1s));
  const PacketId other = send_tcp(5001, kStart + 1s);
  const auto arrived = receive(kStart + 3s);
  ASSERT_EQ(arrived.size(), 4u);
  EXPECT_EQ(arrived[0].first, other);
  EXPECT_EQ(arrived[0].second, kStart + 1s + 4ms + 30ms + 1ms);
  EXPECT_EQ(arrived[3].first, capped[2]);
  EXPECT_EQ(arrived[3].second, kStart + 1s + 1ms + 3 * 10ms + 30ms + 1ms);
  for (int i = 0; i < 20; ++i) send_tcp(5000, kStart + 4s);  // 5 of them may wait
  receive(kStart + 6s);
  EXPECT_GE(wan_->counters(0, 1).capped.packets, 10u);
  EXPECT_EQ(pool_->used_count(), 0u);
}

TEST_F(WanTest, BordersDropBeforeTheLine) {
  topology_.sites[1].inbound_ports = PortRange{40000, 40050};
  build();
  for (std::uint16_t port : {80, 40000}) {
    const auto bytes = tcp_packet("10.77.0.1", 5000, "10.77.1.1", port, kSyn);
    const PacketId packet = pool_->take();
    std::copy(bytes.begin(), bytes.end(), pool_->data(packet));
    pool_->length_bytes(packet) = static_cast<std::uint32_t>(bytes.size());
    wan_->send(0, 1, packet, kStart, kStart);
  }
  EXPECT_EQ(receive(kStart + 1s).size(), 1u);
  EXPECT_EQ(wan_->counters(0, 1).filtered.packets, 1u);
  EXPECT_EQ(wan_->counters(0, 1).wire.packets, 1u);
}

TEST_F(WanTest, LosesTheAskedFraction) {
  topology_.sites[0].up_bits_per_sec = topology_.sites[1].down_bits_per_sec = kUnlimitedRate;
  topology_.pair(0, 1).loss = 0.01;
  build();
  for (int i = 0; i < 100'000; ++i) {
    send(0, 1, kStart + i * 1ms);
    receive(kStart + i * 1ms);
  }
  EXPECT_NEAR(static_cast<double>(wan_->counters(0, 1).lost.packets), 1000, 100);
  EXPECT_EQ(wan_->counters(0, 1).wire.packets, 100'000u);
}

TEST_F(WanTest, ACutTakesWhatIsOnItsWayAndHealingLetsNewThingsPass) {
  build();
  send(0, 1, kStart);
  send(0, 2, kStart);
  wan_->set_cut(1, 0, true);
  EXPECT_TRUE(wan_->is_cut(0, 1));
  EXPECT_EQ(receive(kStart + 1s).size(), 1u);  // that for site 2
  send(1, 0, kStart + 1s);
  EXPECT_EQ(wan_->counters(0, 1).cut.packets, 1u);
  EXPECT_EQ(wan_->counters(1, 0).cut.packets, 1u);
  wan_->set_cut(0, 1, false);
  send(0, 1, kStart + 2s);
  EXPECT_EQ(receive(kStart + 3s).size(), 1u);
  wan_->set_site_cut(2, true);
  EXPECT_TRUE(wan_->is_cut(0, 2));
  EXPECT_TRUE(wan_->is_cut(2, 1));
  EXPECT_FALSE(wan_->is_cut(0, 1));
}

TEST_F(WanTest, AShorterDelayLetsNothingOvertake) {
  build();
  const PacketId first = send(0, 1, kStart);
  wan_->set_delay(0, 1, 1ms);
  const PacketId second = send(0, 1, kStart + 1ms);
  const auto arrived = receive(kStart + 1s);
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[0].first, first);
  EXPECT_EQ(arrived[1].first, second);
}

TEST_F(WanTest, ALateLookShortensNoDelay) {
  build();
  send(0, 1, kStart);
  const PacketId late = pool_->take();
  pool_->length_bytes(late) = kFullBytes;
  wan_->send(0, 1, late, kStart + 20ms, kStart);  // the line was busy at kStart
  const auto arrived = receive(kStart + 1s);
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[1].second, kStart + 20ms + 30ms + 1ms);
}

}  // namespace
}  // namespace isthmus::lab
