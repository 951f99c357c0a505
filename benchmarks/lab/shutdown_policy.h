// When the ranks are told to end, and what the lab's exit status is. Pure: the caller has the clock and the signals.
//
// Threads: one thread at a time.
#pragma once

#include <optional>

#include "runtime/base/clock.h"

namespace isthmus::lab {

inline constexpr int kTimeoutStatus = 124;  // as timeout(1)

class ShutdownPolicy {
 public:
  // Ranks have `grace` to end by themselves after one of them failed or a signal asked them to; SIGTERM follows, and
  // SIGKILL after `kKillAfter`. `run_deadline` ends the whole run in the same way, without the grace.
  ShutdownPolicy(int rank_count, Duration grace, TimePoint run_deadline);

  static constexpr Duration kKillAfter = std::chrono::seconds(5);

  // `wait_status` as waitpid() gives it. Returns whether this is the first failure.
  bool rank_ended(int rank, int wait_status, TimePoint now);

  // A signal that the lab was sent. Returns what to send to the ranks: that signal, or SIGKILL for the second SIGINT
  // or SIGTERM.
  int signal_received(int signal, TimePoint now);

  // When due() has something to say; kNever if it may never.
  TimePoint next_deadline() const;

  // SIGTERM or SIGKILL, when it is time to send it to the ranks that are left.
  std::optional<int> due(TimePoint now);

  bool all_ended() const { return running_count_ == 0; }
  bool timed_out() const { return timed_out_; }

  // Of the first rank that failed (128 + signal when it was killed), else 124 after the run's deadline, else 0.
  int exit_status() const;

 private:
  enum class Stage { kRunning, kGrace, kTerminating, kKilled };
  void begin_grace(TimePoint now);

  int running_count_;
  Duration grace_;
  TimePoint run_deadline_;
  Stage stage_ = Stage::kRunning;
  TimePoint stage_deadline_ = kNever;
  bool asked_to_end_ = false;
  bool timed_out_ = false;
  int first_failure_ = 0;
};

// 3 for a process that exited with 3, 137 for one that SIGKILL ended.
int shell_status(int wait_status);

}  // namespace isthmus::lab
