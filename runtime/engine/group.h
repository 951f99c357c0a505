// Group: a communicator as the engine sees it: members, the channel to each, and the operations in flight.
//
// An operation that fails after it began breaks the group: its other operations and all later ones fail with the same
// reason. A message that is not what its receive expected fails that alone. Several operations may be in flight; they
// start in the order of submission and complete in any order.
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

#include "runtime/base/metrics.h"
#include "runtime/base/process_id.h"
#include "runtime/engine/call_log.h"
#include "runtime/engine/message_matcher.h"
#include "runtime/engine/operation.h"

namespace isthmus {

struct GroupMember {
  ProcessId process = 0;
  std::string name;            // "rank 3 (site b)"
  Channel* channel = nullptr;  // nullptr: this rank itself
};

struct GroupConfig {
  std::uint64_t id = 0;
  std::string name;
  std::vector<GroupMember> members;  // by rank
};

class Group final : public OperationHost {
 public:
  // `post` runs a function on the progress thread, from any thread. `tell_others` floods a failure that only this rank
  // may know of; `on_broken` tells this rank's communicator, once.
  Group(GroupConfig config, const Clock* clock, WorkerPool* workers, std::function<void(std::function<void()>)> post,
        std::function<void(const Status&)> tell_others, std::function<void(const Status&)> on_broken,
        Counter* completed, Counter* failed);

  void submit(OperationRequest request);
  void break_with(const Status& why, bool tell_others);
  // This rank destroys its communicator: ends what is in flight here, and says nothing to the others.
  void abandon(const Status& why);

  // The member is dead, or has left on purpose.
  void member_dead(ProcessId process, const Status& why);
  void member_left(ProcessId process);

  // Deadlines, failed channels, and the end of what has ended. Returns whether anything ended.
  bool tick(TimePoint now);
  TimePoint next_due() const;

  const GroupConfig& config() const { return config_; }
  const Status& status() const { return status_; }
  bool idle() const { return operations_.empty() && waiting_.empty() && receives_.empty(); }
  bool drained() const;
  void forget();

  // OperationHost
  Channel* channel(std::uint32_t rank) override { return config_.members[rank].channel; }
  const std::string& member_name(std::uint32_t rank) const override { return config_.members[rank].name; }
  const Clock& clock() const override { return *clock_; }
  WorkerPool& workers() override { return *workers_; }
  void post(std::function<void()> fn) override { post_(std::move(fn)); }
  void operation_done(const OperationKey& key) override { done_.push_back(key); }
  void operation_failed(const OperationKey& key, const Status& why) override;

 private:
  void start(OperationRequest request);
  void wait_to_start(OperationRequest request);
  void start_next(const OperationKey& ended);
  bool is_in_flight(const OperationKey& key) const;
  bool start_matched();
  void fail_all(const Status& why);
  bool reap();
  void check_operations(TimePoint now);
  std::optional<std::uint32_t> gone_for(const Operation& operation, TimePoint now) const;
  void check_channels();

  const GroupConfig config_;
  const Clock* const clock_;
  WorkerPool* const workers_;
  const std::function<void(std::function<void()>)> post_;
  const std::function<void(const Status&)> tell_others_;
  const std::function<void(const Status&)> on_broken_;
  Counter* const completed_;
  Counter* const failed_;
  Status status_;
  Status failure_;  // of an operation, to break the group with at the next tick
  std::unordered_map<OperationKey, std::unique_ptr<Operation>, OperationKeyHash> operations_;
  std::unordered_multimap<OperationKey, OperationRequest, OperationKeyHash> waiting_;  // by starts_after
  std::vector<OperationKey> done_;
  CallLog calls_;
  MessageMatcher receives_;
  std::vector<std::optional<TimePoint>> left_at_;  // by rank: when the news came that it left, or is dead
  TimePoint check_at_ = TimePoint::min();
};

}  // namespace isthmus
