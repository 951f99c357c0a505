#include "runtime/link/receive_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace isthmus {
namespace {

using Arrival = ReceiveWindow::Arrival;

TEST(ReceiveWindow, InOrder) {
  ReceiveWindow window;
  for (std::uint64_t s = 1; s <= 5; ++s) EXPECT_EQ(window.arrive(s), Arrival::kNew);
  EXPECT_EQ(window.acknowledgement().cumulative, 5u);
  EXPECT_TRUE(window.acknowledgement().ranges.empty());
  EXPECT_EQ(window.arrive(3), Arrival::kDuplicate);
}

TEST(ReceiveWindow, GapsAreRanges) {
  ReceiveWindow window;
  for (std::uint64_t s : {2, 3, 6}) EXPECT_EQ(window.arrive(s), Arrival::kNew);
  const Acknowledgement ack = window.acknowledgement();
  EXPECT_EQ(ack.cumulative, 0u);
  ASSERT_EQ(ack.ranges.size(), 2u);
  EXPECT_EQ(ack.ranges[0].first, 2u);
  EXPECT_EQ(ack.ranges[0].last, 3u);
  EXPECT_EQ(ack.ranges[1].first, 6u);
  EXPECT_EQ(window.arrive(6), Arrival::kDuplicate);
  EXPECT_EQ(window.arrive(1), Arrival::kNew);
  EXPECT_EQ(window.acknowledgement().cumulative, 3u);
}

TEST(ReceiveWindow, FarAheadIsRefused) {
  ReceiveWindow window;
  EXPECT_EQ(window.arrive(ReceiveWindow::kMaxAhead + 1), Arrival::kTooFar);
  EXPECT_EQ(window.arrive(ReceiveWindow::kMaxAhead), Arrival::kNew);
}

TEST(ReceiveWindow, RandomOrderMatchesASet) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ReceiveWindow window;
    std::set<std::uint64_t> arrived;
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t segment = 1 + random() % 200;
      EXPECT_EQ(window.arrive(segment), arrived.insert(segment).second ? Arrival::kNew : Arrival::kDuplicate);
    }
    const Acknowledgement ack = window.acknowledgement();
    for (std::uint64_t s = 1; s <= ack.cumulative; ++s) EXPECT_TRUE(arrived.contains(s));
    EXPECT_FALSE(arrived.contains(ack.cumulative + 1));
    for (const SegmentRange& range : ack.ranges)
      for (std::uint64_t s = range.first; s <= range.last; ++s) EXPECT_TRUE(arrived.contains(s));
  }
}

TEST(Acknowledgement, RoundTripAndHostileInput) {
  const Acknowledgement ack{4, {{6, 7}, {9, 9}}};
  const std::string bytes = encode_acknowledgement(ack);
  const Result<Acknowledgement> decoded = decode_acknowledgement(as_bytes(bytes));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded).cumulative, 4u);
  ASSERT_EQ((*decoded).ranges.size(), 2u);
  EXPECT_EQ((*decoded).ranges[1].last, 9u);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_acknowledgement(as_bytes(std::string_view(bytes).substr(0, length))).ok());
  EXPECT_FALSE(decode_acknowledgement(as_bytes(encode_acknowledgement({4, {{4, 7}}}))).ok());  // overlaps
  EXPECT_FALSE(decode_acknowledgement(as_bytes(encode_acknowledgement({4, {{9, 8}}}))).ok());  // backwards
}

}  // namespace
}  // namespace isthmus
