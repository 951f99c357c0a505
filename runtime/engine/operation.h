// Operation: one collective or point-to-point call in flight on this rank. Runs the steps of its schedule as their
// dependencies allow, over the channels of its group.
//
// Threads: the progress thread; reductions run on the worker pool.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/engine/schedule.h"
#include "runtime/link/channel.h"

namespace isthmus {

class WorkerPool;

struct OperationRequest {
  OperationKey key;
  std::string what;        // for messages: "allreduce #12 of \"world\""
  std::string descriptor;  // equal on all ranks, or the operation fails on all; at most kMaxDescriptorBytes
  std::shared_ptr<const Schedule> schedule;
  const void* input = nullptr;  // belong to the operation until on_done
  void* output = nullptr;
  std::size_t element_bytes = 1;  // for messages
  int priority = 0;               // see ChannelOperation
  // The receive of a message: from whom, or is_receive alone: from any rank. Its sequence is given by the engine, and
  // from any rank also its pair and, by on_matched (progress thread), its schedule.
  bool is_receive = false;
  std::optional<std::uint32_t> receives_from;
  std::function<std::shared_ptr<const Schedule>(std::uint32_t sender)> on_matched;
  double factor = 1;  // of this rank, for kScale steps
  // Starts when this operation of the same communicator, called before, has ended; at once if it has ended already.
  std::optional<OperationKey> starts_after;
  Duration timeout{};  // from the start, and anew from every advance of the payload
  // Called once on the progress thread: must only hand the news on.
  std::function<void(const Status&)> on_done;
  // Turns a peer's descriptor that differs from ours into words ("rank 1 (site b) called ...").
  std::function<std::string(std::string_view theirs)> describe;
};

// What an operation needs of its surroundings.
class OperationHost {
 public:
  virtual ~OperationHost() = default;
  virtual Channel* channel(std::uint32_t rank) = 0;
  virtual const std::string& member_name(std::uint32_t rank) const = 0;
  virtual const Clock& clock() const = 0;
  virtual WorkerPool& workers() = 0;
  // From any thread: run `fn` on the progress thread.
  virtual void post(std::function<void()> fn) = 0;
  // The operation has ended, or wants to be failed; called at most once each.
  virtual void operation_done(const OperationKey& key) = 0;
  virtual void operation_failed(const OperationKey& key, const Status& why) = 0;
};

class Operation {
 public:
  Operation(OperationRequest request, OperationHost* host);

  void start();

  // Ends with `why` once no reduction of it runs any more; its channels are closed at once.
  void fail(const Status& why);

  // Both true: the object may be destroyed.
  bool ended() const { return ended_; }
  bool quiet() const { return running_jobs_ == 0; }

  // Reports on_done. Only when ended() and quiet().
  void report();

  TimePoint deadline() const { return deadline_after(last_advance_, request_.timeout); }
  // No payload moved for the whole timeout.
  Status timeout_status() const;

  TimePoint started_at() const { return started_at_; }
  // Whether a step that has begun moves data from or to the member, and has not ended.
  bool waits_for(std::uint32_t rank) const;
  // The failure of an operation that still waits for a member which left on purpose.
  Status left_status(std::uint32_t rank) const;

  bool succeeded() const { return status_.ok(); }
  const OperationKey& key() const { return request_.key; }
  const std::string& what() const { return request_.what; }

 private:
  // Gives the callbacks of a channel the rank on its other end.
  struct Side final : ChannelOperation {
    Operation* operation = nullptr;
    std::uint32_t rank = 0;
    std::uint64_t receive_bytes = 0;
    bool receives = false;
    void on_sent(std::uint32_t step) override { operation->complete(step); }
    void on_received(std::uint32_t step) override { operation->complete(step); }
    void on_advance() override { operation->last_advance_ = operation->host_->clock().now(); }
    void on_mismatch(std::string_view theirs) override { operation->mismatch(rank, theirs); }
    void on_wrong_size(std::uint32_t step, std::uint64_t bytes) override { operation->wrong_size(step, bytes); }
    int priority() const override { return operation->request_.priority; }
  };

  void prepare_dependents();
  void open_channels();
  void complete(std::uint32_t step);
  void run_ready();
  void run_step(std::uint32_t index);
  void run_compute(std::uint32_t index);
  void compute(const Step& step);
  void reduce_step(const Step& step);
  static void compute_job(void* operation, std::uint32_t index);
  void compute_done(std::uint32_t index);
  void mismatch(std::uint32_t rank, std::string_view theirs);
  void wrong_size(std::uint32_t step, std::uint64_t bytes);
  void differ(const Status& why);
  void finish(const Status& status);
  void close_channels();
  bool is_message() const { return request_.key.tag != 0; }
  std::byte* address(const Region& region);
  std::string missing_peers() const;

  OperationRequest request_;
  OperationHost* const host_;
  const Schedule& schedule_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<std::uint32_t> blockers_;         // per step: dependencies that are not complete
  std::vector<std::uint32_t> first_dependent_;  // per step, into dependents_; one more at the end
  std::vector<std::uint32_t> dependents_;
  std::vector<bool> is_complete_;
  std::vector<std::uint32_t> ready_;  // first in, first out, from ready_head_
  std::size_t ready_head_ = 0;
  std::size_t steps_left_ = 0;
  bool is_running_ready_ = false;
  int running_jobs_ = 0;
  bool ended_ = false, reported_ = false;
  Status status_;
  TimePoint started_at_, last_advance_;
};

}  // namespace isthmus
