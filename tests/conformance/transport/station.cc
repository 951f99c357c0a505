#include "tests/conformance/transport/station.h"

#include <sched.h>

#include <algorithm>
#include <array>

namespace isthmus::conformance {

std::size_t Station::pump() {
  if (!transport_) return 0;
  std::array<TransportEvent, 16> events;
  const std::size_t count = transport_->progress(events);
  for (std::size_t i = 0; i < count; ++i) events_.push_back(std::move(events[i]));
  return count;
}

int Station::count(TransportEventKind kind, LaneId lane) const {
  return static_cast<int>(std::count_if(events_.begin(), events_.end(), [&](const TransportEvent& event) {
    return event.kind == kind && event.lane == lane;
  }));
}

int Station::count(TransportEventKind kind) const {
  return static_cast<int>(
      std::count_if(events_.begin(), events_.end(), [&](const TransportEvent& event) { return event.kind == kind; }));
}

const TransportEvent* Station::find(TransportEventKind kind, LaneId lane) const {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const TransportEvent& event) {
    return event.kind == kind && event.lane == lane;
  });
  return found == events_.end() ? nullptr : &*found;
}

const TransportEvent* Station::find_accepted(std::string_view greeting) const {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const TransportEvent& event) {
    return event.kind == TransportEventKind::kLaneAccepted && event.greeting == greeting;
  });
  return found == events_.end() ? nullptr : &*found;
}

bool pump_until(std::initializer_list<Station*> stations, const std::function<bool()>& done) {
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(10);
  while (!done()) {
    std::size_t count = 0;
    for (Station* station : stations) count += station->pump();
    if (count == 0) ::sched_yield();
    if (SteadyClock::instance().now() > deadline) return done();
  }
  return true;
}

void pump_for(std::initializer_list<Station*> stations, Duration time) {
  const TimePoint end = SteadyClock::instance().now() + time;
  while (SteadyClock::instance().now() < end) {
    for (Station* station : stations) station->pump();
    ::sched_yield();
  }
}

Station TransportConformance::new_station() {
  auto transport = source_();
  EXPECT_TRUE(transport.ok()) << transport.status().to_string();
  return Station(std::move(transport).value());
}

std::string TransportConformance::listen_at(Station& station) {
  ListenOptions options;
  options.host = GetParam().host;
  const auto address = station->listen(options);
  EXPECT_TRUE(address.ok()) << address.status().to_string();
  return *address;
}

LanePair TransportConformance::open_lane(Station& dialler, Station& listener, const std::string& address,
                                         std::string_view greeting) {
  LanePair lanes;
  const auto dialled = dialler->connect(address, greeting);
  EXPECT_TRUE(dialled.ok()) << dialled.status().to_string();
  lanes.dialled = *dialled;
  EXPECT_TRUE(pump_until(
      {&dialler, &listener},
      [&] { return dialler.find(TransportEventKind::kLaneUp, lanes.dialled) && listener.find_accepted(greeting); }))
      << "the lane to " << address << " did not come up";
  if (const TransportEvent* accepted = listener.find_accepted(greeting)) lanes.accepted = accepted->lane;
  return lanes;
}

PostResult TransportConformance::send_patiently(std::initializer_list<Station*> stations, Station& from, LaneId lane,
                                                ConstBytes message, std::uint64_t token) {
  PostResult result = PostResult::kFull;
  pump_until(stations, [&] {
    result = from->send(lane, message, token);
    return result != PostResult::kFull;
  });
  return result;
}

std::vector<std::byte> make_message(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> message(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& byte : message) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return message;
}

}  // namespace isthmus::conformance
