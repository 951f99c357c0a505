// LinkSet: the links of one process, keyed by process, over one transport. Dials and accepts lanes and hands the
// transport's events to the links they concern.
//
// Of two processes the one with the smaller id dials, so two that turn to each other at once still get one set of
// lanes. The other asks for it over the control connection (the `request_dial` callback). Links are dialled at first
// use, with more lanes as a link finds that they pay.
//
// A path that falls silent (nothing heard though the peer owes an acknowledgement, or its heartbeats are missing) is
// probed with fresh lanes: every 250 ms for ten seconds, then every second. TCP would try its old connections again
// only after seconds. The first probe that answers takes over: the old lanes are given up on both sides, and what they
// had is sent again. A link that is silent, or without a lane, for `reach_limit` fails.
//
// Threads: the progress thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/log_throttle.h"
#include "runtime/base/process_id.h"
#include "runtime/link/greeting.h"
#include "runtime/link/lane_serials.h"
#include "runtime/link/link.h"

namespace isthmus {

struct LinkPeer {
  ProcessId process = 0;
  std::string name;                             // "rank 3 (site b)"
  std::vector<std::string> addresses;           // tried in turn
  std::optional<LinkKeys> keys = std::nullopt;  // nullopt: the link is not sealed
};

// For reports: a link as it is now.
struct LinkReport {
  std::string peer;             // "rank 3 (site b)"
  std::vector<LaneInfo> lanes;  // those that are up
};

struct LinkSetOptions {
  LinkOptions link;
  Duration reach_limit = std::chrono::seconds(30);  // without any lane, or in silence, once the link is used
  Duration redial_interval = std::chrono::milliseconds(250);
  std::uint32_t epoch = 1;
};

class LinkSet {
 public:
  // `request_dial(peer, lanes, is_silent)`: asks the peer over the control connection to dial until the link has so
  // many, and to probe the path if it is silent for this side.
  LinkSet(const LinkSetOptions& options, const Clock* clock, std::unique_ptr<Transport> transport, ProcessId self,
          Traffic* traffic, std::function<void(ProcessId, int, bool)> request_dial);
  ~LinkSet();

  Result<std::string> listen(const ListenOptions& options) { return transport_->listen(options); }

  // The link to a peer, made at the first call; the pointer lives as long as the set.
  Link* get(const LinkPeer& peer);

  void dial(ProcessId process, int lanes, bool is_silent);  // the peer asked for it
  void suspect(ProcessId process, bool is_silent);          // its heartbeats are missing, or are heard again
  void fail(ProcessId process, const Status& why);          // the process is dead
  void retire(ProcessId process);                           // it said goodbye: its lanes' end is no failure

  // Moves everything that can be moved now. Returns whether anything was.
  bool progress();
  TimePoint next_due() const;
  int wait_fd() const { return transport_->wait_fd(); }
  bool arm() { return transport_->arm(); }
  bool drained() const;
  std::vector<LinkReport> report() const;

  const Transport& transport() const { return *transport_; }

 private:
  struct Entry {
    LinkPeer peer;
    std::unique_ptr<Link> link;
    bool is_wanted = false, is_retired = false, is_suspect = false, had_lane = false, is_closed = false;
    int lanes_asked_for = 0;  // by the peer
    int dialling = 0;         // lanes, probes not among them
    std::uint32_t next_serial = 1;
    std::uint32_t first_kept = 1;   // lanes below are given up
    std::uint32_t first_probe = 0;  // of this silence
    LaneSerials accepted;
    std::size_t next_address = 0;
    TimePoint dial_at = TimePoint::min(), ask_at = TimePoint::min();
    TimePoint without_lane_since = kNever;
    TimePoint silent_since = kNever;  // of the silence that is being probed
    int fruitless_probings = 0;       // that were answered, and nothing was acknowledged since
    std::uint64_t delivered_bytes = 0;
    Status last_dial_error;
  };
  struct LaneOwner {
    Entry* entry = nullptr;
    std::uint32_t serial = 0, first_kept = 0;
    bool is_dialling = false, is_probe = false;
    TimePoint since{};
    std::size_t address = 0;  // that was dialled: next_address of that moment
  };
  struct Stranger {  // a lane whose process we have not been told of yet
    LaneId lane;
    ReceivedGreeting greeting;
    TimePoint since;
  };

  void on_event(TransportEvent& event);
  void on_lane_up(LaneId lane, LaneOwner& owner);
  void on_probe_answered(Entry& entry, const LaneOwner& owner);
  void on_accepted(LaneId lane, const std::string& greeting);
  void adopt(Entry& entry, LaneId lane, const ReceivedGreeting& greeting);
  Status check(Entry& entry, const ReceivedGreeting& greeting);
  Status begin_session(Entry& entry, std::uint64_t session);
  void give_up_lanes_below(Entry& entry, std::uint32_t serial);
  void on_lane_down(LaneId lane, const Status& why);
  void on_dial_failed(Entry& entry, const LaneOwner& owner, const Status& why);
  static void try_next_address(const LaneOwner& owner);

  void close_lanes(Entry& entry);
  bool maintain(Entry& entry, TimePoint now);
  Duration patience(const Entry& entry) const;
  bool is_silent(const Entry& entry, TimePoint now) const;
  void watch_silence(Entry& entry, TimePoint now);
  void ask_for_lanes(Entry& entry, TimePoint now);
  void dial_missing_lanes(Entry& entry, TimePoint now);
  void probe(Entry& entry, TimePoint now);
  bool open_lane(Entry& entry, bool is_probe, TimePoint now);
  void end_late_dials(TimePoint now);
  bool fail_if_out_of_reach(Entry& entry, TimePoint now);
  bool dials(const Entry& entry) const { return self_ < entry.peer.process; }

  const LinkSetOptions options_;
  const Clock* const clock_;
  const ProcessId self_;
  Traffic* const traffic_;
  LineShare share_;
  const std::function<void(ProcessId, int, bool)> request_dial_;
  std::unordered_map<ProcessId, std::unique_ptr<Entry>> entries_;
  std::unordered_map<LaneId, LaneOwner> owners_;
  std::vector<Stranger> strangers_;
  std::vector<TransportEvent> events_;
  LogThrottle refusals_;
  int dials_under_way_ = 0;
  std::unique_ptr<Transport> transport_;  // first to go: it may still read the links' buffers
};

}  // namespace isthmus
