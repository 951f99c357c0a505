// The backend "isthmus" of torch.distributed: collectives on CPU tensors over a communicator of the C API.
//
// Threads: any thread, without the GIL. Calls start in the order in which they are made, which must be the same on
// every rank of the group.
//
// Every operation is asynchronous inside and returns a Work; torch waits for it where the call is synchronous.
// Arguments that Isthmus does not support are refused before anything is sent. Nothing ever falls back to another
// backend.
#pragma once

#include <isthmus/isthmus.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "bindings/torch/communicator.h"
#include "bindings/torch/options.h"
#include "bindings/torch/work.h"

namespace isthmus::torch_binding {

class ProcessGroupIsthmus final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<std::vector<at::Tensor>>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  using StorePtr = c10::intrusive_ptr<c10d::Store>;
  using BackendOptionsPtr = c10::intrusive_ptr<c10d::Backend::Options>;

  // Collective over the `size` processes that share `store`; `options` are copied.
  ProcessGroupIsthmus(const StorePtr& store, int rank, int size, const c10::intrusive_ptr<GroupOptions>& options);
  // Over a communicator that exists. `store` is what shrink() would use.
  ProcessGroupIsthmus(std::shared_ptr<Communicator> communicator, StorePtr store, int rank, int size,
                      const c10::intrusive_ptr<GroupOptions>& options);
  ~ProcessGroupIsthmus() override;

  const std::string getBackendName() const override { return kBackendName; }
  // A copy: torch writes into what it gets when it splits a group.
  c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() override {
    return c10::make_intrusive<GroupOptions>(*options_);
  }
  void setTimeout(std::chrono::milliseconds timeout) override;
  c10d::ErrorType getError() override;
  // Breaks the group on every rank: operations in flight and later ones fail.
  void abort() override;
  // Ends this rank's part in the group. Operations in flight have two seconds to end, then fail.
  void shutdown() override;
  // Site of every rank.
  std::vector<std::string> site_names();

#ifdef C10D_BACKEND_HAS_CAPABILITIES
  c10d::BackendCapabilities capabilities() const override {
    return {c10d::BackendCapability::Splitting, c10d::BackendCapability::Coalescing,
            c10d::BackendCapability::Shrinking};
  }
#else
  bool supportsSplitting() const override { return true; }
  bool supportsCoalescing() const override { return true; }
  bool supportsShrinking() const override { return true; }
#endif

  // Groups made from this one. `options` without a type of its own (torch gives its base class) stand for this group's
  // with the base's values.
  //
  // Collective over this group, needs no store: the group of `ranks` (ranks of this group, no two lists overlapping);
  // null on a rank that is not among them.
  c10::intrusive_ptr<c10d::Backend> split(const StorePtr& store, const std::vector<int>& ranks,
                                          const BackendOptionsPtr& options) override;
  // Collective over the `size` processes that share `store`: those of this group and others.
  c10::intrusive_ptr<c10d::Backend> merge(const StorePtr& store, const BackendOptionsPtr& options, const int& rank,
                                          const int& size) override;
  // Collective over the ranks that stay, through the store of this group, which must still be there. The others may be
  // dead. This group is left as it is, and may be broken.
  c10::intrusive_ptr<c10d::Backend> shrink(const std::vector<int64_t>& ranks_to_exclude, int flags,
                                           const BackendOptionsPtr& options) override;

  // Waits until no operation is in flight, at most for the group's timeout.
  void waitForPendingWorks() override;
  void enableCollectivesTiming() override {}  // there is nothing to switch on

  // Works between the two are started at once; the Work of endCoalescing completes with all of them.
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  void setSequenceNumberForGroup() override {}  // counted from zero on every rank, so there is nothing to agree on
  std::uint64_t getSequenceNumberForGroup() override { return collective_count_; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& opts) override;
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) override;
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& opts) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
                        std::vector<int64_t>& input_split_sizes, const c10d::AllToAllOptions& opts) override;
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& opts) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& opts) override;
  WorkPtr barrier(const c10d::BarrierOptions& opts) override;
  WorkPtr send(Tensors& tensors, int destination, int tag) override;
  WorkPtr recv(Tensors& tensors, int source, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

  // A barrier that has ended when it returns; its error names the ranks that did not come.
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;

  // Not supported: throws NotImplementedError.
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;

 private:
  using IsthmusWorkPtr = c10::intrusive_ptr<WorkIsthmus>;
  using Buffers = std::vector<isthmus_buffer>;
  struct ReductionCalls {  // the same operation for one buffer and for several
    decltype(&isthmus_allreduce) single;
    decltype(&isthmus_allreduce_coalesced) coalesced;
  };
  struct Blocks {
    at::Tensor flat;
    std::vector<std::size_t> counts;  // elements, by rank
  };

  WorkIsthmus::Call new_call(const char* operation, const char* title, c10d::OpType type) const;
  // Seals a work whose operations are started.
  WorkPtr started(const IsthmusWorkPtr& work);
  WorkPtr started_collective(const IsthmusWorkPtr& work);
  isthmus_call_options call_options(std::chrono::milliseconds timeout) const;

  // A work over the operation that action(isthmus_communicator*, isthmus_work**) starts.
  template <typename Action>
  WorkPtr launch(WorkIsthmus::Call call, Action action) {
    auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
    WorkIsthmus::start(work, action);
    return started_collective(work);
  }
  // A work that is done: a coalesced call without tensors.
  WorkPtr launch_nothing(WorkIsthmus::Call call);

  WorkPtr gather_all(WorkIsthmus::Call call, const Tensors& outputs, const Tensors& inputs,
                     std::chrono::milliseconds timeout);
  WorkPtr reduce_scatter_all(WorkIsthmus::Call call, const Tensors& outputs, const Tensors& inputs,
                             const c10d::ReduceOp& op, std::chrono::milliseconds timeout);
  WorkPtr receive(WorkIsthmus::Call call, const Tensors& tensors, int source, int tag);
  WorkPtr exchange_all(WorkIsthmus::Call call, const Blocks& to, const Blocks& from, std::chrono::milliseconds timeout);
  WorkPtr launch_reductions(WorkIsthmus::Call call, const Buffers& buffers, const Tensors& tensors,
                            const c10d::ReduceOp& op, std::chrono::milliseconds timeout, ReductionCalls calls);

  c10::intrusive_ptr<GroupOptions> child_options(const BackendOptionsPtr& options, const std::vector<int>& ranks) const;

  const c10::intrusive_ptr<GroupOptions> options_;
  const StorePtr store_;
  std::atomic<std::int64_t> timeout_ms_;
  const std::shared_ptr<Communicator> communicator_;
  std::atomic<std::uint64_t> collective_count_{0};
  std::atomic<int> shrink_count_{0};

  std::mutex coalescing_mutex_;
  std::optional<std::vector<IsthmusWorkPtr>> coalesced_;  // between startCoalescing and endCoalescing
};

}  // namespace isthmus::torch_binding
