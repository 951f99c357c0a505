// The parent of all ranks: a process of its own that outlives the lab just long enough to end everything.
//
// It starts the ranks, passes signals to their process groups and reports their ends. When the lab's end of the channel
// closes, for whatever reason (SIGKILL too), it kills all that descends from it; the ranks die with it in turn.
//
// Threads: one thread at a time. start() forks, so it comes before any thread is made.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/lab/site_namespace.h"
#include "runtime/base/fd.h"

namespace isthmus::lab {

struct RankProcess {
  int rank = 0;
  int site = 0;
  std::vector<std::string> environment;  // "NAME=value", all of it
  Fd output;                             // the write end of its standard output
  Fd errors;
};

struct RankEnd {
  int rank;
  int wait_status;  // as waitpid() gives it
};

class Guardian {
 public:
  // The descriptors of `ranks` and `sites` are the guardian's; the caller's copies are closed.
  static Result<Guardian> start(std::vector<RankProcess> ranks, std::vector<SiteNamespace> sites,
                                const std::vector<std::string>& command);

  int channel() const { return channel_.get(); }  // readable when next_end() has something

  // None when nothing waits. Unavailable when the guardian has gone.
  Result<std::optional<RankEnd>> next_end();

  // To the process group of every rank that lives.
  void signal_ranks(int signal);

  // Closes the channel, waits until the guardian has killed what is left, and then looks for orphans itself.
  void finish();

 private:
  Guardian(Fd channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}

  Fd channel_;
  pid_t pid_;
};

}  // namespace isthmus::lab
