// form_group: how the processes that share a store become a group with one agreed table of members.
//
// Threads: blocks the calling thread; one group of a process is formed at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/peer_mesh.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/bootstrap/store.h"

namespace isthmus {

struct GroupMemberInfo {
  ProcessInfo info;
  std::string site;    // name
  int site_index = 0;  // sites in the order of their lowest rank

  std::string name(int rank) const;  // "rank 3 (site b)"
};

struct GroupTable {
  std::uint64_t id = 0;  // of the communicator: random, drawn by rank 0
  std::uint32_t epoch = 1;
  std::vector<GroupMemberInfo> members;  // by rank
};

// What the listeners must be bound for, known once the host identities were exchanged.
struct BindRequest {
  bool all_on_one_host = true;          // loopback is enough, and nothing else may be bound
  std::vector<std::string> peer_hosts;  // candidate addresses of the peers on other hosts, to find the route to them
  std::string store_host;               // where the store is, if it has an address; may be empty
};

struct FormGroupRequest {
  Store* store = nullptr;  // its keys are fresh for this group
  int rank = 0, size = 1;
  std::string group_name;  // for messages
  ProcessInfo self;        // addresses are filled by `bind`
  PeerMesh* mesh = nullptr;
  Duration site_rtt = std::chrono::milliseconds(2);  // site detection: hosts closer than this are one site
  TimePoint deadline;
  // Binds what is not bound yet and writes control_addresses and data_addresses of `self`.
  std::function<Status(const BindRequest&, ProcessInfo* self)> bind;
};

// Collective. On success every rank has an equal table and control connections to every other member, and knows that
// all others have too. On failure every rank gets the same reason, or deadline_exceeded naming the ranks that are
// missing.
Result<GroupTable> form_group(const FormGroupRequest& request);

// A later rendezvous of the same ranks over the same store: returns when all have called it with this name, with the
// first of their statuses that is not ok.
Status store_barrier(Store& store, int rank, int size, const std::string& name, const Status& mine, TimePoint deadline);

}  // namespace isthmus
