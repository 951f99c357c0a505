#include "runtime/link/line_share.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

using namespace std::chrono_literals;

class LineShareTest : public testing::Test {
 protected:
  LineShareTest() {
    share_.join(&a_);
    share_.join(&b_);
  }

  LineShare share_;
  TimePoint now_{10s};
  LineShare::Part a_{6e6, 1'000'000, now_}, b_{2e6, 1'000'000, now_};
};

TEST_F(LineShareTest, EqualWorkGetsEqualParts) {
  EXPECT_DOUBLE_EQ(share_.fairness(a_, now_), 4.0 / 6);
  EXPECT_DOUBLE_EQ(share_.fairness(b_, now_), 2);
}

TEST_F(LineShareTest, WhoHasMoreLeftGetsMore) {
  a_.waiting_bytes = 3'000'000;
  EXPECT_DOUBLE_EQ(share_.fairness(a_, now_), 1) << "three quarters of 8 MB/s";
  EXPECT_DOUBLE_EQ(share_.fairness(b_, now_), 1);
}

TEST_F(LineShareTest, ButWithinBounds) {
  a_.waiting_bytes = 1;
  EXPECT_NEAR(share_.fairness(b_, now_), 0.8 * 8 / 2, 1e-3) << "2 parts against half a part";
  EXPECT_NEAR(share_.fairness(a_, now_), 0.2 * 8 / 6, 1e-3);
}

TEST_F(LineShareTest, WhatALinkNoLongerUsesGoesToTheOther) {
  a_.waiting_bytes = 0;
  EXPECT_DOUBLE_EQ(share_.fairness(b_, now_), 4);
  EXPECT_DOUBLE_EQ(share_.fairness(a_, now_), 1) << "has nothing to send";
  b_.busy_at = now_ + 1s;
  EXPECT_DOUBLE_EQ(share_.fairness(b_, now_ + 1s), 1) << "that was long ago";
}

TEST_F(LineShareTest, ALinkThatIsAloneOrHasNoPaceIsFair) {
  share_.leave(&b_);
  EXPECT_DOUBLE_EQ(share_.fairness(a_, now_), 1);
  a_.bytes_per_sec = 0;
  EXPECT_DOUBLE_EQ(share_.fairness(a_, now_), 1);
}

}  // namespace
}  // namespace isthmus
