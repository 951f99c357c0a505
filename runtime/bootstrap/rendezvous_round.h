// One round of a rendezvous over a store: every rank hands in a record, rank 0 makes one answer of all records, every
// rank gets the answer.
//
// Threads: blocks the calling thread.
//
// Cost at the store: two writes and size + 1 reads at rank 0, one write and one read elsewhere. An error of any rank,
// or of making the answer, becomes the answer, so all ranks fail alike and at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/store.h"

namespace isthmus {

struct RendezvousRound {
  Store* store = nullptr;
  int rank = 0, size = 1;
  std::string name;   // of the round: fresh in this store
  std::string group;  // for messages
  TimePoint deadline;
};

// `combine` runs at rank 0, with the records by rank. deadline_exceeded: names the ranks whose records are missing.
Result<std::string> run_round(const RendezvousRound& round, const Result<std::string>& record,
                              const std::function<Result<std::string>(const std::vector<std::string>&)>& combine);

}  // namespace isthmus
