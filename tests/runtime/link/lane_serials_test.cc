#include "runtime/link/lane_serials.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace isthmus {
namespace {

TEST(LaneSerials, EachServesOnceInAnyOrder) {
  LaneSerials serials;
  for (std::uint32_t serial : {1u, 3u, 2u, 64u}) EXPECT_TRUE(serials.accept(serial)) << serial;
  for (std::uint32_t serial : {1u, 2u, 3u, 64u}) EXPECT_FALSE(serials.accept(serial)) << serial;
  EXPECT_TRUE(serials.accept(4));
}

TEST(LaneSerials, WhatIsTooFarBackToBeKnownIsRefused) {
  LaneSerials serials;
  EXPECT_TRUE(serials.accept(100));
  EXPECT_FALSE(serials.accept(36));
  EXPECT_TRUE(serials.accept(37));
  EXPECT_TRUE(serials.accept(0xffffffff));
  EXPECT_FALSE(serials.accept(100));
  EXPECT_FALSE(serials.accept(0xffffffff));
}

TEST(LaneSerials, RandomOrderMatchesASet) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    LaneSerials serials;
    std::set<std::uint32_t> accepted;
    std::uint32_t base = 1;
    for (int i = 0; i < 500; ++i) {
      base += random() % 3;
      const std::uint32_t serial = base + random() % 100;
      const bool is_known = !accepted.empty() && *accepted.rbegin() >= serial + 64;
      EXPECT_EQ(serials.accept(serial), !is_known && !accepted.contains(serial));
      accepted.insert(serial);
    }
  }
}

}  // namespace
}  // namespace isthmus
