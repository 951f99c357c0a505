// Station: a transport and everything that it has reported, for tests that drive several from one thread.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"
#include "tests/conformance/transport/adapters.h"

namespace isthmus::conformance {

class Station {
 public:
  explicit Station(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  Transport& operator*() { return *transport_; }
  Transport* operator->() { return transport_.get(); }

  // One call of progress(); keeps what it reports.
  std::size_t pump();
  void destroy() { transport_.reset(); }

  const std::vector<TransportEvent>& events() const { return events_; }
  void forget_events() { events_.clear(); }

  int count(TransportEventKind kind, LaneId lane) const;
  int count(TransportEventKind kind) const;
  // The only event of this kind (of this lane), or null.
  const TransportEvent* find(TransportEventKind kind, LaneId lane) const;
  const TransportEvent* find_accepted(std::string_view greeting) const;

 private:
  std::unique_ptr<Transport> transport_;
  std::vector<TransportEvent> events_;
};

// Pumps the stations in turn until `done`; false when that takes longer than ten seconds.
bool pump_until(std::initializer_list<Station*> stations, const std::function<bool()>& done);

// Pumps for a while in which nothing is expected.
void pump_for(std::initializer_list<Station*> stations, Duration time);

// The part of an address that messages show: without what only the adapter reads, which follows a slash.
inline std::string place_of(const std::string& address) { return address.substr(0, address.find('/')); }

struct LanePair {
  LaneId dialled = 0;
  LaneId accepted = 0;
};

class TransportConformance : public ::testing::TestWithParam<Adapter> {
 protected:
  Station new_station();
  std::string listen_at(Station& station);
  LanePair open_lane(Station& dialler, Station& listener, const std::string& address, std::string_view greeting);

  // Sends until the lane takes no more.
  PostResult send_patiently(std::initializer_list<Station*> stations, Station& from, LaneId lane, ConstBytes message,
                            std::uint64_t token);

 private:
  TransportSource source_ = GetParam().new_world();
};

// Bytes that tell a message and a position apart.
std::vector<std::byte> make_message(std::size_t bytes, std::uint64_t seed);

}  // namespace isthmus::conformance
