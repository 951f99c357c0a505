// ShmSite: all of a process's channels through shared memory, driven by its progress thread.
//
// Set-up is in two phases with a rendezvous between them, because a mate can only open what exists: every process calls
// prepare(), all meet, every process calls attach().
//
// Threads: the progress thread, but for create().
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/local/shm/shm_channel.h"
#include "collectives/local/shm/shm_directory.h"
#include "runtime/base/metrics.h"
#include "runtime/engine/progress_source.h"

namespace isthmus {

struct ShmMateInfo {
  ProcessId process = 0;
  std::uint32_t pid = 0;
  std::string name;  // "rank 3 (site b)"
};

class ShmSite final : public ProgressSource {
 public:
  static Result<std::shared_ptr<ShmSite>> create(ProcessId self, EagerLimits limits, Traffic* traffic);

  // Makes our ends of the rings from mates that have none yet; then opens their ends of the rings to them.
  Status prepare(const std::vector<ShmMateInfo>& mates);
  Status attach(const std::vector<ShmMateInfo>& mates);

  Channel* channel(ProcessId mate);  // nullptr: not prepared

  bool progress() override;
  int wait_fd() const override { return directory_->wake_fd(); }
  bool arm() override;

 private:
  ShmSite(ProcessId self, EagerLimits limits, Traffic* traffic, std::unique_ptr<ShmDirectory> directory);

  const ProcessId self_;
  const EagerLimits limits_;
  Traffic* const traffic_;
  std::unique_ptr<ShmDirectory> directory_;
  std::unordered_map<ProcessId, std::unique_ptr<ShmChannel>> channels_;
  bool may_have_been_woken_ = false;
};

}  // namespace isthmus
