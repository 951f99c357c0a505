// While the ranks run: their output, their ends, signals, ctl, deadlines.
//
// Threads: one thread at a time.
#pragma once

#include <poll.h>

#include <cstdio>
#include <vector>

#include "benchmarks/lab/control_socket.h"
#include "benchmarks/lab/forwarder.h"
#include "benchmarks/lab/guardian.h"
#include "benchmarks/lab/line_prefixer.h"
#include "benchmarks/lab/options.h"
#include "benchmarks/lab/shutdown_policy.h"
#include "benchmarks/lab/signal_fd.h"

namespace isthmus::lab {

// One stream of one rank.
struct RankOutput {
  Fd pipe;
  std::FILE* to;
  LinePrefixer prefixer;
};

class Supervisor {
 public:
  Supervisor(const LabOptions& options, Forwarder& forwarder, Guardian guardian, ControlServer control,
             SignalFd signals, std::vector<RankOutput> outputs, TimePoint start);
  ~Supervisor();  // ends the ranks that are left

  // Until all ranks have ended and their output is printed. Returns the exit status.
  Result<int> run();

 private:
  Status handle_ends();
  void handle_signals();
  void handle_deadline();
  void handle_control();
  void copy(RankOutput& output);
  void copy_until(TimePoint deadline);
  void announce_failure(int rank, int wait_status) const;
  int poll_timeout_ms(TimePoint deadline) const;

  const LabOptions& options_;
  Forwarder& forwarder_;
  Guardian guardian_;
  ControlServer control_;
  SignalFd signals_;
  std::vector<RankOutput> outputs_;
  TimePoint start_;
  ShutdownPolicy policy_;
  std::vector<pollfd> polled_;
  bool finished_ = false;
};

}  // namespace isthmus::lab
