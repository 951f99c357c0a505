// Conformance of every transport: listening, opening lanes, greetings, addresses.
#include <gmock/gmock.h>

#include <set>

#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {
namespace {

using ::testing::HasSubstr;

TEST_P(TransportConformance, AGreetingReachesTheAcceptor) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  std::string longest(kMaxGreetingBytes, '\xff');
  longest[7] = '\0';
  const std::vector<std::string> greetings = {longest, std::string("x"), std::string("\0y\0", 3)};
  for (const std::string& greeting : greetings) {
    const LanePair lanes = open_lane(a, b, address, greeting);
    EXPECT_NE(lanes.accepted, 0u);
  }
}

TEST_P(TransportConformance, AnEmptyGreetingIsAGreeting) {
  Station a = new_station(), b = new_station();
  EXPECT_NE(open_lane(a, b, listen_at(b), "").accepted, 0u);
}

TEST_P(TransportConformance, AGreetingThatIsTooLongIsRefused) {
  Station a = new_station(), b = new_station();
  const auto lane = a->connect(listen_at(b), std::string(kMaxGreetingBytes + 1, 'g'));
  ASSERT_FALSE(lane.ok());
  EXPECT_EQ(lane.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(lane.status().message(), HasSubstr(std::to_string(kMaxGreetingBytes + 1)));
  EXPECT_THAT(lane.status().message(), HasSubstr(std::to_string(kMaxGreetingBytes)));
}

TEST_P(TransportConformance, AddressesAreShortAndPrintable) {
  Station a = new_station();
  const std::string address = listen_at(a);
  EXPECT_LE(address.size(), 256u);
  for (const char c : address) EXPECT_TRUE(c > ' ' && c < '\x7f') << address;
}

TEST_P(TransportConformance, EachListenAddsAnAddress) {
  Station a = new_station(), b = new_station();
  const std::string first = listen_at(b), second = listen_at(b);
  EXPECT_NE(first, second);
  EXPECT_NE(open_lane(a, b, first, "to the first").accepted, open_lane(a, b, second, "to the second").accepted);
}

TEST_P(TransportConformance, APortRangeIsUsedUpAndThenNamed) {
  Station a = new_station(), b = new_station();
  ListenOptions options;
  options.host = GetParam().host;
  // Ports of other programs may lie in the range: it is wide enough to find some free ones in it.
  options.port_low = 39'180;
  options.port_high = 39'189;
  std::set<std::string> found;
  std::string of_a;
  Status error;
  for (int i = 0; i <= options.port_high - options.port_low + 1 && error.ok(); ++i) {
    const auto address = (i % 2 == 0 ? a : b)->listen(options);
    if (address.ok()) {
      if (i == 0) of_a = *address;
      EXPECT_TRUE(found.insert(*address).second) << *address << " was given twice";
    }
    error = address.status();
  }
  EXPECT_GE(found.size(), 1u);
  ASSERT_FALSE(error.ok()) << "eleven listeners in ten ports";
  EXPECT_EQ(error.code(), StatusCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("39180-39189"));
  EXPECT_NE(open_lane(b, a, of_a, "in the range").accepted, 0u);
}

TEST_P(TransportConformance, AnAddressOfAnotherKindIsRefused) {
  Station a = new_station();
  for (const char* address : {"", "nonsense", "loopback:", "loopback:1x", "1.2.3.4", "1.2.3.4:", "1.2.3.4:99999",
                              "1.2.3:80", "[::1]", "[::1]:x", "::1:80", "host.example:80"}) {
    const auto lane = a->connect(address, "");
    if (lane.ok()) {  // a transport that delays the opening says it later
      ASSERT_TRUE(pump_until({&a}, [&] { return a.find(TransportEventKind::kLaneDown, *lane); })) << address;
      EXPECT_EQ(a.find(TransportEventKind::kLaneDown, *lane)->status.code(), StatusCode::kInvalidArgument) << address;
    } else {
      EXPECT_EQ(lane.status().code(), StatusCode::kInvalidArgument) << address;
      EXPECT_THAT(lane.status().message(), HasSubstr(std::string("\"") + address + "\""));
    }
  }
}

TEST_P(TransportConformance, LaneInfoNamesBothEnds) {
  Station a = new_station(), b = new_station();
  const std::string address = listen_at(b);
  const LanePair lanes = open_lane(a, b, address, "info");
  const LaneInfo ours = a->lane_info(lanes.dialled), theirs = b->lane_info(lanes.accepted);
  EXPECT_EQ(ours.remote_address, place_of(address));
  EXPECT_EQ(ours.remote_address, theirs.local_address);
  EXPECT_EQ(ours.local_address, theirs.remote_address);
  EXPECT_NE(ours.local_address, ours.remote_address);
  EXPECT_EQ(ours.congestion.empty(), !GetParam().uses_sockets);
  EXPECT_TRUE(a->lane_info(lanes.dialled + 1000).local_address.empty());
}

TEST_P(TransportConformance, BothEndsMayDial) {
  Station a = new_station(), b = new_station();
  const std::string at_a = listen_at(a), at_b = listen_at(b);
  std::set<LaneId> of_a, of_b;
  for (int i = 0; i < 4; ++i) {
    const LanePair to_b = open_lane(a, b, at_b, fmt::format("to b {}", i));
    const LanePair to_a = open_lane(b, a, at_a, fmt::format("to a {}", i));
    of_a.insert({to_b.dialled, to_a.accepted});
    of_b.insert({to_b.accepted, to_a.dialled});
  }
  EXPECT_EQ(of_a.size(), 8u);
  EXPECT_EQ(of_b.size(), 8u);
}

TEST_P(TransportConformance, ATransportMayDialItself) {
  Station a = new_station();
  const LanePair lanes = open_lane(a, a, listen_at(a), "me");
  EXPECT_NE(lanes.accepted, lanes.dialled);
  const auto message = make_message(1000, 1);
  std::vector<std::byte> buffer(1000);
  ASSERT_EQ(a->receive(lanes.accepted, buffer, 1), PostResult::kAccepted);
  ASSERT_EQ(a->send(lanes.dialled, message, 2), PostResult::kAccepted);
  ASSERT_TRUE(pump_until({&a}, [&] { return a.find(TransportEventKind::kReceived, lanes.accepted); }));
  EXPECT_EQ(buffer, message);
}

}  // namespace
}  // namespace isthmus::conformance
