// LinkSet: the links of one process, keyed by process, over one transport. Dials and accepts lanes and hands the
// transport's events to the links they concern.
//
// Of two processes the one with the smaller id dials, so two that turn to each other at once still get one set of
// lanes. The other asks for it over the control connection (the `request_dial` callback). Links are dialled at first
// use; a lost lane is dialled anew, and a link that has had no lane for `reach_limit` fails.
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

#include "runtime/base/process_id.h"
#include "runtime/link/greeting.h"
#include "runtime/link/link.h"
#include "runtime/security/link_cipher.h"

namespace isthmus {

struct LinkPeer {
  ProcessId process = 0;
  std::string name;                    // "rank 3 (site b)"
  std::vector<std::string> addresses;  // tried in turn
  std::optional<LinkKeys> keys;        // none: nothing is sealed
};

// For reports: a link as it is now.
struct LinkReport {
  std::string peer;             // "rank 3 (site b)"
  std::vector<LaneInfo> lanes;  // those that are up
};

struct LinkSetOptions {
  LinkOptions link;
  int lanes = 4;                                    // per link
  Duration reach_limit = std::chrono::seconds(30);  // without any lane, once the link is used
  Duration redial_interval = std::chrono::milliseconds(250);
  std::uint32_t epoch = 1;
};

class LinkSet {
 public:
  LinkSet(const LinkSetOptions& options, const Clock* clock, std::unique_ptr<Transport> transport, ProcessId self,
          Traffic* traffic, std::function<void(ProcessId)> request_dial);
  ~LinkSet();

  Result<std::string> listen(const ListenOptions& options) { return transport_->listen(options); }

  // The link to a peer, made at the first call; the pointer lives as long as the set.
  Link* get(const LinkPeer& peer);

  void dial(ProcessId process);                     // the peer asked for it
  void fail(ProcessId process, const Status& why);  // the process is dead
  void retire(ProcessId process);                   // it said goodbye: its lanes' end is no failure

  void suspect(ProcessId process, bool silent);  // a heartbeat is missing; or it was heard again

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
    bool wanted = false, retired = false, asked = false;
    int dialling = 0;
    std::size_t next_address = 0;
    TimePoint dial_at = TimePoint::min();
    TimePoint without_lane_since = kNever;
    Status last_dial_error;
  };
  struct LaneOwner {
    Entry* entry = nullptr;
    bool dialling = false;
  };
  struct Stranger {  // a lane whose process we have not been told of yet
    LaneId lane;
    LaneGreeting greeting;
  };

  void on_event(TransportEvent& event);
  void on_accepted(LaneId lane, const std::string& greeting);
  void adopt(Entry& entry, LaneId lane, const LaneGreeting& greeting);
  void on_lane_down(LaneId lane, const Status& why);
  bool maintain(Entry& entry, TimePoint now);
  void dial_missing_lanes(Entry& entry, TimePoint now);

  const LinkSetOptions options_;
  const Clock* const clock_;
  const ProcessId self_;
  Traffic* const traffic_;
  const std::function<void(ProcessId)> request_dial_;
  std::unordered_map<ProcessId, std::unique_ptr<Entry>> entries_;
  std::unordered_map<LaneId, LaneOwner> owners_;
  std::vector<Stranger> strangers_;
  std::vector<TransportEvent> events_;
  std::unique_ptr<Transport> transport_;  // first to go: it may still read the links' buffers
};

}  // namespace isthmus
