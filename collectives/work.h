// Work: one operation in flight, as its caller holds it.
//
// Threads: any thread; finish() is called by the engine.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/fork_guard.h"
#include "runtime/base/status.h"
#include "runtime/engine/completion_thread.h"

namespace isthmus {

class Work {
 public:
  // `completions` outlives the operation; `abort` gives it up.
  Work(std::uint64_t sequence, std::string what, CompletionThread* completions, std::function<void()> abort);

  // Waits until the operation has ended and returns how; a negative timeout waits as long as the operation's own limit
  // lets it live. deadline_exceeded, while it is in flight: this call gave up, nothing else changed.
  Status wait(Duration timeout);
  bool done() const;
  Status status() const;  // ok while in flight
  std::uint64_t sequence() const { return sequence_; }

  // The rank whose message was received; -1: it is no receive, or none has been matched yet.
  int source() const { return source_.load(std::memory_order_acquire); }
  void set_source(int rank) { source_.store(rank, std::memory_order_release); }

  // Gives the operation up, which breaks its communicator on every rank. Nothing happens once it has ended.
  void abort();

  // Runs on a completion thread once the operation has ended; at once, on this thread, if it has already. At most one
  // per work: invalid_argument for a second.
  Status on_complete(std::function<void(const Status&)> callback);

  void finish(const Status& status);

  // unavailable in a child that was forked while the work existed; no other call is allowed there.
  Status check_process() const { return fork_guard_.check(what_); }

 private:
  const ForkGuard fork_guard_;
  const std::uint64_t sequence_;
  const std::string what_;
  CompletionThread* const completions_;
  const std::function<void()> abort_;
  std::atomic<int> source_{-1};
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool is_done_ = false, has_callback_ = false;
  Status status_;
  std::function<void(const Status&)> callback_;
};

}  // namespace isthmus
