#include "benchmarks/lab/shutdown_policy.h"

#include <gtest/gtest.h>

#include <csignal>

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1s};
constexpr int exited(int status) { return status << 8; }

TEST(ShutdownPolicy, SucceedsWhenAllDo) {
  ShutdownPolicy policy(2, 30s, kNever);
  EXPECT_FALSE(policy.rank_ended(0, exited(0), kStart));
  EXPECT_EQ(policy.next_deadline(), kNever);
  policy.rank_ended(1, exited(0), kStart);
  EXPECT_TRUE(policy.all_ended());
  EXPECT_EQ(policy.exit_status(), 0);
}

TEST(ShutdownPolicy, TheFirstFailureStartsTheGraceAndGivesTheStatus) {
  ShutdownPolicy policy(3, 30s, kNever);
  EXPECT_TRUE(policy.rank_ended(2, exited(7), kStart));
  EXPECT_FALSE(policy.rank_ended(1, exited(9), kStart + 1s));
  EXPECT_EQ(policy.next_deadline(), kStart + 30s);
  EXPECT_FALSE(policy.due(kStart + 29s));
  EXPECT_EQ(policy.due(kStart + 30s), SIGTERM);
  EXPECT_FALSE(policy.due(kStart + 31s));
  EXPECT_EQ(policy.due(kStart + 35s), SIGKILL);
  EXPECT_EQ(policy.next_deadline(), kNever);
  policy.rank_ended(0, SIGKILL, kStart + 35s);
  EXPECT_EQ(policy.exit_status(), 7);
}

TEST(ShutdownPolicy, AKilledRankGives128AndTheSignal) {
  ShutdownPolicy policy(1, 30s, kNever);
  policy.rank_ended(0, SIGSEGV, kStart);
  EXPECT_EQ(policy.exit_status(), 128 + SIGSEGV);
}

TEST(ShutdownPolicy, PassesSignalsOn) {
  ShutdownPolicy policy(1, 30s, kNever);
  EXPECT_EQ(policy.signal_received(SIGUSR1, kStart), SIGUSR1);
  EXPECT_EQ(policy.next_deadline(), kNever);
  EXPECT_EQ(policy.signal_received(SIGINT, kStart), SIGINT);
  EXPECT_EQ(policy.next_deadline(), kStart + 30s);
  EXPECT_EQ(policy.signal_received(SIGTERM, kStart + 1s), SIGKILL);
}

TEST(ShutdownPolicy, EndsALongRun) {
  ShutdownPolicy policy(1, 30s, kStart + 60s);
  EXPECT_EQ(policy.next_deadline(), kStart + 60s);
  EXPECT_EQ(policy.due(kStart + 60s), SIGTERM);
  EXPECT_FALSE(policy.rank_ended(0, SIGTERM, kStart + 61s));
  EXPECT_TRUE(policy.timed_out());
  EXPECT_EQ(policy.exit_status(), kTimeoutStatus);
}

TEST(ShutdownPolicy, AFailureBeforeTheEndOfTheRunKeepsItsStatus) {
  ShutdownPolicy policy(2, 30s, kStart + 10s);
  policy.rank_ended(0, exited(3), kStart);
  EXPECT_EQ(policy.due(kStart + 10s), SIGTERM);
  policy.rank_ended(1, SIGTERM, kStart + 10s);
  EXPECT_EQ(policy.exit_status(), 3);
}

}  // namespace
}  // namespace isthmus::lab
