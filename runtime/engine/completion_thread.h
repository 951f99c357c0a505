// CompletionThread: where code of the user runs when an operation has ended, so that the progress thread never waits
// for it.
//
// Functions run one at a time, in order, as long as none takes longer than `patience`. One that does may be waiting for
// a function behind it (torch's PowerSGD hook waits for an allreduce within the callback of another): the next ones
// then run beside it, on a further thread. Of threads there are two, and one more for each function that waits.
//
// Threads: post() from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace isthmus {

class CompletionThread {
 public:
  static constexpr std::chrono::milliseconds kPatience{20};
  static constexpr std::size_t kMaxThreads = 64;  // beyond it, functions wait for those that run

  explicit CompletionThread(std::chrono::milliseconds patience = kPatience);
  ~CompletionThread();  // runs what was posted, then ends; not on one of its own threads

  void post(std::function<void()> fn);

 private:
  using Clock = std::chrono::steady_clock;

  void add_thread();
  void run();
  bool wait_for_turn(std::unique_lock<std::mutex>& lock);
  void run_front(std::unique_lock<std::mutex>& lock);

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> functions_;
  std::uint64_t started_count_ = 0;  // the number of the function that was started last
  bool newest_runs_ = false;         // it has not returned
  Clock::time_point newest_start_;
  bool is_watched_ = false;  // a thread waits for the end of its patience
  std::size_t idle_count_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace isthmus
