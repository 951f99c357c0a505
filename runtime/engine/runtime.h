// Runtime: everything that one process has for communication: its threads, links, control connections and listeners.
// Communicators share it. Made once per process as a rule; tests hold several.
//
// Threads: public calls from any thread, unless they say otherwise. After fork() the child must not use it: check
// is_forked() first; its destructor then frees nothing that the parent still uses.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/metrics.h"
#include "runtime/bootstrap/group.h"
#include "runtime/bootstrap/peer_mesh.h"
#include "runtime/config/options.h"
#include "runtime/engine/completion_thread.h"
#include "runtime/engine/group_message.h"
#include "runtime/engine/progress_loop.h"
#include "runtime/engine/worker_pool.h"
#include "runtime/security/security_config.h"

namespace isthmus {

// What tests replace; empty members mean the real thing.
struct RuntimeSeams {
  const Clock* clock = nullptr;
  std::unique_ptr<Transport> transport;
  std::shared_ptr<ControlNetwork> control;
  std::string host_id;  // to make one machine look like several
};

struct RuntimeCounters {
  Traffic wan, site;
  Counter operations_completed, operations_failed;
};

class Runtime final : private PeerMeshHandler {
 public:
  static Result<std::unique_ptr<Runtime>> create(const Options& options, RuntimeSeams seams = {});
  ~Runtime() override;  // drains, says goodbye to every peer, ends the threads; at most option drain_ms for each

  const Options& options() const { return options_; }
  ProcessId process() const { return self_.process; }
  bool is_forked() const;
  // unavailable in a forked child; ok otherwise.
  Status check_process() const;

  // What a group must use in place of `store`, which outlives it; nullptr: there is no job secret, `store` will do.
  std::unique_ptr<Store> sealed_store(Store& store, const std::string& group_name) const;

  // Finds the other ranks through the store, binds what must be bound, connects the control mesh. Blocks; collective.
  Result<GroupTable> form(Store& store, int rank, int size, const std::string& group_name, TimePoint deadline);

  // internal: a secret for a link is missing. Members with channel == nullptr (other than `rank`) get a link.
  Status add_group(const GroupTable& table, int rank, GroupConfig config, std::function<void(const Status&)> on_broken);
  void submit(std::uint64_t group, OperationRequest request);
  void break_group(std::uint64_t group, const Status& why);

  // Ends what is in flight, waits until what was sent is acknowledged or the deadline, and tells the others.
  void remove_group(std::uint64_t group, TimePoint deadline);

  // The links as they are now, in no order. Blocks until the progress thread has answered.
  std::vector<LinkReport> link_report();

  ProgressLoop& loop() { return *loop_; }
  WorkerPool& workers() { return *workers_; }
  CompletionThread& completions() { return *completions_; }
  RuntimeCounters& counters() { return counters_; }
  const Clock& clock() const { return *clock_; }

  // A slot for what a layer above keeps per process (the site's shared memory): made by the first caller, and destroyed
  // after the progress thread has ended. Its sources must be removed by then.
  std::shared_ptr<void> keep(const std::string& name, const std::function<std::shared_ptr<void>()>& make);

 private:
  explicit Runtime(const Options& options) : options_(options) {}

  // Of the link between two members; nothing: it is not sealed.
  Result<std::optional<LinkKeys>> link_keys(const GroupMemberInfo& self, const GroupMemberInfo& peer);
  Status bind(const BindRequest& request, ProcessInfo* self);

  // PeerMeshHandler, on the mesh's thread
  void on_message(ProcessId from, std::string_view message) override;
  void on_peer_dead(ProcessId peer, const Status& why) override;
  void on_peer_suspect(ProcessId peer, const std::string& name, Duration silent) override;
  void on_path_silent(ProcessId peer, bool silent) override;
  void on_goodbye(ProcessId peer) override;

  void on_group_message(ProcessId from, const GroupMessage& message);

  const Options options_;
  pid_t pid_ = 0;
  const Clock* clock_ = nullptr;
  SecurityConfig security_;
  ProcessInfo self_;
  RuntimeCounters counters_;
  std::shared_ptr<ControlNetwork> control_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<CompletionThread> completions_;
  std::unique_ptr<ProgressLoop> loop_;
  std::unique_ptr<PeerMesh> mesh_;
  std::mutex form_mutex_;                 // one group is formed at a time
  std::vector<std::string> bound_hosts_;  // in the order of self_'s addresses
  std::mutex kept_mutex_;
  std::unordered_map<std::string, std::shared_ptr<void>> kept_;

  // Progress thread only.
  std::unordered_map<ProcessId, Status> dead_;
  std::unordered_set<ProcessId> gone_;                      // said goodbye
  std::unordered_map<std::uint64_t, Status> early_aborts_;  // of groups that are not added yet
};

}  // namespace isthmus
