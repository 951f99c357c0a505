// What only real sockets and processes can show; the rest is in tests/conformance/transport.
#include "runtime/transport/libfabric/transport.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/transport/socket_checks.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

TEST(LibfabricTransport, AKilledProcessIsReportedOnIdleAndBusyLanes) {
  check_a_killed_process_is_reported_on_idle_and_busy_lanes(make_libfabric_transport);
}

TEST(LibfabricTransport, StrangersAtThePortDoNoHarm) {
  check_strangers_at_the_port_do_no_harm(make_libfabric_transport);
}

TEST(LibfabricTransport, HasNoThreadsOfItsOwn) {
  const auto threads = [] {
    int count = 0;
    DIR* folder = ::opendir("/proc/self/task");
    if (folder == nullptr) return -1;
    while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
    ::closedir(folder);
    return count;
  };
  {
    const auto first = make_libfabric_transport();
  }  // whatever providers start once
  const int before = threads();
  auto a = make_libfabric_transport().value(), b = make_libfabric_transport().value();
  ASSERT_TRUE(a->connect(*b->listen(kLocal), "").ok());
  std::vector<TransportEvent> events;
  ASSERT_TRUE(collect(*a, events, [&] {
    TransportEvent event;
    b->progress({&event, 1});
    return !events.empty();
  }));
  EXPECT_GT(before, 0);
  EXPECT_EQ(threads(), before);
}

TEST(LibfabricTransport, TunesTheLanesOfBothEnds) { check_the_lanes_of_both_ends_are_tuned(make_libfabric_transport); }

TEST(LibfabricTransport, NamesTheLibrary) {
  auto transport = make_libfabric_transport().value();
  EXPECT_EQ(transport->capabilities().name, "libfabric");
  EXPECT_THAT(transport->capabilities().library_version, HasSubstr("."));
}

TEST(LibfabricTransport, OneTransportDialsBothFamilies) {
  auto a = make_libfabric_transport().value(), b = make_libfabric_transport().value();
  const std::string v4 = *b->listen(kLocal), v6 = *b->listen({"::1", "", 0, 0});
  ASSERT_TRUE(a->connect(v4, "4").ok());
  ASSERT_TRUE(a->connect(v6, "6").ok());
  std::vector<TransportEvent> events;
  EXPECT_TRUE(collect(*a, events, [&] {
    TransportEvent event;
    b->progress({&event, 1});
    return events.size() == 2;
  }));
  for (const TransportEvent& event : events) EXPECT_EQ(event.kind, TransportEventKind::kLaneUp);
}

}  // namespace
}  // namespace isthmus
