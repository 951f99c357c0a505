// PeerMesh: the control connections of one process, kept alive by a thread of their own.
//
// It dials and accepts streams, sends heartbeats, tells deaths from goodbyes and silence from death, and carries small
// messages of the layers above. A death that one process sees (reset, then refused) is flooded: each process passes a
// notice that it has not seen before to all its peers, so everyone in the group learns of it within a few trips.
//
// A path that is merely silent is no death until link_grace: from the first missed heartbeat on new connections are
// dialled beside the old one (every 250 ms for 10 s, then every second), and the first that is answered takes its
// place.
//
// Threads: public calls from any thread. The handler is called on the mesh's thread; it must be quick and may call
// send(), but not connect() or the destructor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/control/control_stream.h"

namespace isthmus {

class PeerMeshHandler {
 public:
  virtual ~PeerMeshHandler() = default;
  // A message that a peer gave to send() or to broadcast().
  virtual void on_message(ProcessId from, std::string_view message) = 0;
  // The process is dead (reset or refused, or reported by another process), or was silent for link_grace. Once.
  virtual void on_peer_dead(ProcessId peer, const Status& why) = 0;
  // Nothing was heard for suspect_after; an event for logs and metrics, not an error. `name` as in connect().
  virtual void on_peer_suspect(ProcessId peer, const std::string& name, Duration silent) = 0;
  // A heartbeat is missing (true), or the peer was heard again (false); in turn.
  virtual void on_path_silent(ProcessId peer, bool silent) = 0;
  // The process ended on purpose. Once; its connection's end is then no death.
  virtual void on_goodbye(ProcessId peer) = 0;
};

struct PeerMeshOptions {
  Duration heartbeat_interval = std::chrono::milliseconds(500);
  Duration suspect_after = std::chrono::seconds(3);
  Duration link_grace = std::chrono::seconds(30);
};

class PeerMesh {
 public:
  // `network` and `handler` outlive the mesh.
  static Result<std::unique_ptr<PeerMesh>> create(const PeerMeshOptions& options, ControlNetwork* network,
                                                  ProcessId self, PeerMeshHandler* handler);
  virtual ~PeerMesh() = default;  // closes without a goodbye; call goodbye() first for a clean end

  // Adds a listener and returns its address.
  virtual Result<std::string> listen(const std::string& host, const std::string& advertised_host,
                                     std::uint16_t port_low, std::uint16_t port_high) = 0;

  // Makes sure of a connection to each peer: of two processes the one with the smaller id dials (the addresses in
  // order, all peers at once), the other waits to be dialled. Existing connections are kept. Each peer's text in
  // `names` (same order) is how messages call it: "rank 3 (site b)".
  // deadline_exceeded or unavailable: names the peer and every address that was tried. Unsupported: another protocol
  // version, both named. invalid_argument: authentication failed at every address.
  virtual Status connect(const std::vector<ProcessInfo>& peers, const std::vector<std::string>& names,
                         TimePoint deadline) = 0;

  // Best effort: to a peer without a connection nothing is sent.
  virtual void send(ProcessId to, std::string_view message) = 0;

  // To every peer and on to theirs, once each (flooded).
  virtual void broadcast(std::string_view message) = 0;

  // For the link to a connected peer: 32 bytes that both ends of the pair have, and nobody else; the same for the life
  // of the peer. unsupported: the connections are plain.
  virtual Result<Key> link_secret(ProcessId peer) = 0;

  // Median of `count` round trips over the connection to `peer`.
  virtual Result<Duration> measure_round_trip(ProcessId peer, int count, TimePoint deadline) = 0;

  // Tells every peer that this process ends on purpose and waits until each has acknowledged it, is gone, or the
  // deadline is reached.
  virtual void goodbye(TimePoint deadline) = 0;
};

}  // namespace isthmus
