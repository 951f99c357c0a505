// MessageMatcher: which message each receive of a communicator takes. Receives of one tag are matched in the order in
// which they were posted; one from any source takes the earliest message that has arrived, and those posted after it
// wait for that, because its message might have been theirs.
//
// Threads: the progress thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/engine/operation.h"

namespace isthmus {

class MessageMatcher {
 public:
  // `arrival(sender, key)`: see Channel::arrival. `own_rank` receives, of `rank_count`.
  using Arrival = std::function<std::uint64_t(std::uint32_t sender, const OperationKey& key)>;
  MessageMatcher(std::uint32_t own_rank, std::uint32_t rank_count, Arrival arrival)
      : own_rank_(own_rank), rank_count_(rank_count), arrival_(std::move(arrival)) {}

  // `request.key` lacks its sequence; from any source also its pair and schedule.
  void post(OperationRequest request, TimePoint now);

  // The next receive that has its message's key, or nothing; call it until then.
  std::optional<OperationRequest> next_matched();

  bool empty() const { return waiting_.empty(); }
  // What waits is given up: takes all out.
  std::vector<OperationRequest> take_all();
  // A receive that has waited for longer than its timeout, or whose only possible senders `has_left`: why.
  Status check(TimePoint now, const std::function<bool(std::uint32_t rank)>& has_left) const;

 private:
  struct Waiting {
    OperationRequest request;
    TimePoint deadline;
  };
  OperationKey key_of_next(const OperationKey& base, std::uint32_t sender) const;
  std::optional<std::uint32_t> earliest_sender(const OperationKey& base) const;
  OperationRequest take_front(std::uint32_t tag, std::uint32_t sender);

  const std::uint32_t own_rank_, rank_count_;
  const Arrival arrival_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_;  // sequence, by sender and tag
  std::map<std::uint32_t, std::deque<Waiting>> waiting_;                   // by tag; no empty queues
};

}  // namespace isthmus
