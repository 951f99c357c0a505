// What only real sockets and processes can show; the rest is in tests/conformance/transport.
#include "runtime/transport/ucx/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "tests/runtime/transport/socket_checks.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

TEST(UcxTransport, AKilledProcessIsReportedOnIdleAndBusyLanes) {
  check_a_killed_process_is_reported_on_idle_and_busy_lanes(make_ucx_transport);
}

TEST(UcxTransport, StrangersAtThePortDoNoHarm) { check_strangers_at_the_port_do_no_harm(make_ucx_transport); }

TEST(UcxTransport, TunesTheLanesOfBothEnds) { check_the_lanes_of_both_ends_are_tuned(make_ucx_transport); }

TEST(UcxTransport, NamesTheLibrary) {
  auto transport = make_ucx_transport().value();
  EXPECT_EQ(transport->capabilities().name, "ucx");
  EXPECT_THAT(transport->capabilities().library_version, HasSubstr("."));
}

// UCX's constructor would take over SIGSEGV and others: a debugger's or an interpreter's handlers would be lost.
TEST(UcxTransport, LeavesSignalsAlone) {
  ASSERT_TRUE(make_ucx_transport().ok());
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGIO}) {
    struct sigaction action{};
    ASSERT_EQ(::sigaction(number, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << "signal " << number;
  }
}

// Dialling must not stop the thread: 192.0.2.0/24 answers nobody.
TEST(UcxTransport, DialsWithoutWaiting) {
  auto transport = make_ucx_transport().value(), other = make_ucx_transport().value();
  std::string address = *other->listen(kLocal);
  address.replace(0, address.find('/'), "192.0.2.1:4001");
  const TimePoint start = SteadyClock::instance().now();
  const auto lane = transport->connect(address, "anybody?");
  ASSERT_TRUE(lane.ok()) << lane.status().to_string();
  transport->close(*lane);
  std::vector<TransportEvent> events;
  EXPECT_TRUE(collect(*transport, events, [&] { return !events.empty(); }));
  EXPECT_EQ(events[0].kind, TransportEventKind::kLaneDown);
  EXPECT_LT(to_ms(SteadyClock::instance().now() - start), 2000);
}

}  // namespace
}  // namespace isthmus
