#include "benchmarks/lab/shutdown_policy.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace isthmus::lab {

ShutdownPolicy::ShutdownPolicy(int rank_count, Duration grace, TimePoint run_deadline)
    : running_count_(rank_count), grace_(grace), run_deadline_(run_deadline) {}

bool ShutdownPolicy::rank_ended(int, int wait_status, TimePoint now) {
  --running_count_;
  const int status = shell_status(wait_status);
  if (status == 0 || first_failure_ != 0) return false;
  if (!timed_out_) first_failure_ = status;
  begin_grace(now);
  return !timed_out_;
}

int ShutdownPolicy::signal_received(int signal, TimePoint now) {
  const bool ends = signal == SIGINT || signal == SIGTERM;
  if (ends && asked_to_end_) {
    stage_ = Stage::kKilled;
    stage_deadline_ = kNever;
    return SIGKILL;
  }
  asked_to_end_ = asked_to_end_ || ends;
  if (ends || signal == SIGHUP || signal == SIGQUIT) begin_grace(now);
  return signal;
}

void ShutdownPolicy::begin_grace(TimePoint now) {
  if (stage_ != Stage::kRunning) return;
  stage_ = Stage::kGrace;
  stage_deadline_ = deadline_after(now, grace_);
}

TimePoint ShutdownPolicy::next_deadline() const {
  const bool may_time_out = stage_ == Stage::kRunning || stage_ == Stage::kGrace;
  return may_time_out ? std::min(stage_deadline_, run_deadline_) : stage_deadline_;
}

std::optional<int> ShutdownPolicy::due(TimePoint now) {
  if (all_ended() || now < next_deadline()) return std::nullopt;
  if (stage_ == Stage::kTerminating) {
    stage_ = Stage::kKilled;
    stage_deadline_ = kNever;
    return SIGKILL;
  }
  timed_out_ = now >= run_deadline_ && first_failure_ == 0;
  stage_ = Stage::kTerminating;
  stage_deadline_ = now + kKillAfter;
  return SIGTERM;
}

int ShutdownPolicy::exit_status() const {
  if (first_failure_ != 0) return first_failure_;
  return timed_out_ ? kTimeoutStatus : 0;
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace isthmus::lab
