// What both libraries' adapters must show with real sockets and processes; the rest is in tests/conformance/transport.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

using MakeTransport = Result<std::unique_ptr<Transport>> (*)(const TransportOptions&);

inline const ListenOptions kLocal{"127.0.0.1", "", 0, 0};

// The part of an address that messages show: without what only the adapter reads, which follows a slash.
inline std::string place_of(const std::string& address) { return address.substr(0, address.find('/')); }

// Collects events until `done`, for at most ten seconds.
bool collect(Transport& transport, std::vector<TransportEvent>& events, const std::function<bool()>& done);

// A peer in a process of its own: accepts lanes, receives what comes, and never answers. Forked, so it comes before
// this process uses the library.
class PeerProcess {
 public:
  explicit PeerProcess(MakeTransport make);
  ~PeerProcess() { kill(); }
  void kill();
  const std::string& address() const { return address_; }  // empty: it could not be started

 private:
  pid_t pid_ = -1;
  std::string address_;
};

void check_a_killed_process_is_reported_on_idle_and_busy_lanes(MakeTransport make);
void check_strangers_at_the_port_do_no_harm(MakeTransport make);
// Reno is in every kernel and allowed to everyone; nothing else in the process may ask for it.
void check_the_lanes_of_both_ends_are_tuned(MakeTransport make);

}  // namespace isthmus
