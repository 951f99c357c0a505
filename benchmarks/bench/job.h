// Job: this process's part of the world that is measured: its runtime and communicator, and at rank 0 the rendezvous.
//
// Threads: one thread at a time. The destructor says goodbye to the peers; option drain_ms limits it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/bench/launch.h"
#include "collectives/communicator.h"
#include "runtime/bootstrap/rendezvous_server.h"
#include "runtime/control/control_stream.h"
#include "runtime/engine/runtime.h"

namespace isthmus::bench {

class Job {
 public:
  // Collective. Options of the library come from ISTHMUS_* variables; its log goes to standard error.
  static Result<std::unique_ptr<Job>> form(const Launch& launch);

  Communicator& world() { return *world_; }
  Runtime& runtime() { return *runtime_; }

  // Collective: `value` of every rank; texts are cut at kMaxTextBytes.
  static constexpr std::size_t kMaxTextBytes = 64;
  Result<std::vector<std::string>> gather_text(const std::string& value);

  // Collective, element by element.
  Status reduce(std::vector<double>* values, ReduceOp op);
  Status reduce(std::vector<std::int64_t>* values, ReduceOp op);
  Status barrier();
  // All ranks return at one moment of their wall clocks, about a barrier's time from now.
  Status wait_for_common_moment();

 private:
  Job() = default;

  std::shared_ptr<ControlNetwork> network_;
  std::unique_ptr<RendezvousServer> server_;  // at rank 0
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Communicator> world_;
  std::chrono::nanoseconds agreement_time_{0};  // the longest that this rank has waited to agree on a moment
};

// Waits for an operation that was just issued, and returns how it ended.
Status finish(const Communicator::WorkResult& work);

}  // namespace isthmus::bench
