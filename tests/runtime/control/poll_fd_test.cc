#include "runtime/control/poll_fd.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

TEST(PollFd, TellsReadyFromLate) {
  const auto wake = WakeFd::create();
  ASSERT_TRUE(wake.ok());
  EXPECT_FALSE(*poll_fd(wake->get(), PollFor::kReading, in(milliseconds(5))));
  EXPECT_TRUE(*poll_fd(wake->get(), PollFor::kWriting, in(milliseconds(5))));
  wake->signal();
  EXPECT_TRUE(*poll_fd(wake->get(), PollFor::kReading, in(milliseconds(5))));
  EXPECT_TRUE(*poll_fd(wake->get(), PollFor::kReading, in(milliseconds(-5)))) << "a past deadline still looks once";
}

// LC-04: signals without SA_RESTART end system calls, not waits.
TEST(PollFd, LC04_SignalsDoNotEndTheWait) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval every_ms{{0, 1000}, {0, 1000}}, never{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &every_ms, nullptr), 0);
  const auto wake = WakeFd::create();
  const TimePoint deadline = in(milliseconds(60));
  const auto ready = poll_fd(wake->get(), PollFor::kReading, deadline);
  const TimePoint end = SteadyClock::instance().now();
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  ASSERT_TRUE(ready.ok()) << ready.status().to_string();
  EXPECT_FALSE(*ready);
  EXPECT_GE(end, deadline);
}

TEST(PollFd, TimeoutsAreRoundedUpAndBounded) {
  EXPECT_EQ(poll_timeout_ms(in(milliseconds(-1))), 0);
  EXPECT_EQ(poll_timeout_ms(in(std::chrono::microseconds(200))), 1);
  EXPECT_LE(poll_timeout_ms(kNever), 60'000);
}

}  // namespace
}  // namespace isthmus
