// One call of the backend in flight: a c10d::Work over one or several operations of the C API.
//
// Threads: any thread. It completes on the library's completion thread, where the callbacks of its future run too, with
// no lock held. Whoever waits should not hold the GIL (torch's bindings release it).
#pragma once

#include <isthmus/isthmus.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "bindings/torch/communicator.h"
#include "bindings/torch/staging.h"

namespace isthmus::torch_binding {

class WorkIsthmus final : public c10d::Work {
 public:
  struct Call {
    const char* operation;  // "allreduce"; lives for ever
    const char* title;      // for the profiler, named as torch names it: "isthmus:all_reduce"; lives for ever
    c10d::OpType type;
    int rank;                         // of this process in the group
    std::vector<at::Tensor> inputs;   // for the profiler
    std::vector<at::Tensor> outputs;  // result(), and the value of the future
    Staging staging;
    int source_rank = -1;     // recv: who sends
    bool any_source = false;  // recv: known once it is completed
  };

  WorkIsthmus(std::shared_ptr<Communicator> communicator, Call call);

  // Starts one more operation of `work`: action(isthmus_communicator*, isthmus_work**) -> isthmus_status. Throws if the
  // library refuses it.
  template <typename Action>
  static void start(const c10::intrusive_ptr<WorkIsthmus>& work, Action action);

  // No further operation follows: `work` completes with the last one.
  static void seal(const c10::intrusive_ptr<WorkIsthmus>& work);

  // Completes when all `parts` have; fails with the first failure. `call` has no tensors of its own.
  static c10::intrusive_ptr<WorkIsthmus> combine(std::shared_ptr<Communicator> communicator, Call call,
                                                 const std::vector<c10::intrusive_ptr<WorkIsthmus>>& parts);

  // kNoTimeout: until the operation ends, which its own timeout sees to. Otherwise throws after `timeout`, with the
  // operation still in flight: it may be waited for again.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  std::vector<at::Tensor> result() override;
  int sourceRank() const override;
  std::uint64_t getSequencenumber() const override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  static void watch(const c10::intrusive_ptr<WorkIsthmus>& work, isthmus_work* handle);
  static void on_complete(void* context, isthmus_status status, const char* message) noexcept;
  void note_source();
  void operation_ended(std::exception_ptr error);
  void complete();

  const std::shared_ptr<Communicator> communicator_;
  const pid_t owner_;
  const char* const operation_;
  const bool any_source_;
  std::atomic<int> source_rank_;
  std::shared_ptr<isthmus_work> receive_;  // any_source: what knows the source
  std::vector<at::Tensor> outputs_;
  Staging staging_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<int> open_count_{1};  // operations in flight, and one until seal()
  std::mutex error_mutex_;
  std::exception_ptr first_error_;
};

template <typename Action>
void WorkIsthmus::start(const c10::intrusive_ptr<WorkIsthmus>& work, Action action) {
  isthmus_work* handle = nullptr;
  work->communicator_->call([&](isthmus_communicator* communicator) { return action(communicator, &handle); });
  watch(work, handle);
}

}  // namespace isthmus::torch_binding
