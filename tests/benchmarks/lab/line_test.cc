#include "benchmarks/lab/line.h"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1s};
constexpr std::int64_t k12Mbit = 12'000'000;  // 1500 bytes in 1 ms

TEST(Line, SendsAtItsRate) {
  Line line(k12Mbit, 50ms, 1500);
  EXPECT_EQ(line.admit(kStart, 1500), kStart + 1ms);
  EXPECT_EQ(line.admit(kStart, 1500), kStart + 2ms);
  EXPECT_EQ(line.admit(kStart + 10ms, 750), kStart + 10ms + 500us);
}

TEST(Line, DropsWhenTheQueueIsFull) {
  Line line(k12Mbit, 50ms, 1500);
  int admitted = 0;
  while (line.admit(kStart, 1500)) ++admitted;
  EXPECT_EQ(admitted, 51);  // the last one waits for 50 ms
  EXPECT_FALSE(line.admit(kStart + 999us, 1500));
  EXPECT_EQ(line.admit(kStart + 1ms, 1500), kStart + 52ms);
}

TEST(Line, HoldsTwoPacketsHoweverShortTheQueue) {
  Line line(k12Mbit, 0ms, 1500);
  EXPECT_TRUE(line.admit(kStart, 1500));
  EXPECT_TRUE(line.admit(kStart, 1500));
  EXPECT_TRUE(line.admit(kStart, 1500));
  EXPECT_FALSE(line.admit(kStart, 1500));
}

TEST(Line, WithoutALimitSendsAtOnce) {
  Line line(kUnlimitedRate, 50ms, 1500);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(line.admit(kStart, 1500), kStart);
}

TEST(Line, MakesUpForALateLookOnlyWhenItWasBusy) {
  Line line(k12Mbit, 50ms, 1500);
  ASSERT_TRUE(line.admit(kStart, 1500));  // busy until 1 ms
  EXPECT_EQ(line.admit_late(kStart + 5ms, kStart + 500us, 1500), kStart + 2ms);
  EXPECT_EQ(line.admit_late(kStart + 5ms, kStart + 500us, 1500), kStart + 3ms);

  Line idle(k12Mbit, 50ms, 1500);
  ASSERT_TRUE(idle.admit(kStart, 1500));
  EXPECT_EQ(idle.admit_late(kStart + 5ms, kStart + 2ms, 1500), kStart + 6ms);
}

TEST(Line, TakesANewRateForWhatComes) {
  Line line(k12Mbit, 50ms, 1500);
  ASSERT_TRUE(line.admit(kStart, 1500));
  line.set_rate(k12Mbit / 2);
  EXPECT_EQ(line.admit(kStart, 1500), kStart + 3ms);
  EXPECT_EQ(line.rate_bits_per_sec(), k12Mbit / 2);
}

}  // namespace
}  // namespace isthmus::lab
