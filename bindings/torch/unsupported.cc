// What torch.distributed has and this backend does not: refused by name.
#include "bindings/torch/backend.h"
#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {
namespace {

[[noreturn]] void refuse(const char* operation) {
  C10_THROW_ERROR(NotImplementedError,
                  std::string("isthmus: unsupported: the backend \"isthmus\" does not have ") + operation +
                      "; it has broadcast, allreduce, allreduce_coalesced, allgather, _allgather_base "
                      "(all_gather_into_tensor), allgather_into_tensor_coalesced, reduce_scatter, "
                      "_reduce_scatter_base (reduce_scatter_tensor), reduce_scatter_tensor_coalesced, barrier, send, "
                      "recv");
}

}  // namespace

using Pg = ProcessGroupIsthmus;

Pg::WorkPtr Pg::allreduce_sparse(Tensors&, const c10d::AllreduceOptions&) { refuse("allreduce_sparse"); }
Pg::WorkPtr Pg::reduce(Tensors&, const c10d::ReduceOptions&) { refuse("reduce"); }
Pg::WorkPtr Pg::allgather_coalesced(TensorLists&, Tensors&, const c10d::AllgatherOptions&) {
  refuse("allgather_coalesced");
}
Pg::WorkPtr Pg::gather(TensorLists&, Tensors&, const c10d::GatherOptions&) { refuse("gather"); }
Pg::WorkPtr Pg::scatter(Tensors&, TensorLists&, const c10d::ScatterOptions&) { refuse("scatter"); }
Pg::WorkPtr Pg::alltoall(Tensors&, Tensors&, const c10d::AllToAllOptions&) { refuse("alltoall"); }
Pg::WorkPtr Pg::alltoall_base(at::Tensor&, at::Tensor&, std::vector<int64_t>&, std::vector<int64_t>&,
                              const c10d::AllToAllOptions&) {
  refuse("alltoall_base");
}
Pg::WorkPtr Pg::recvAnysource(Tensors&, int) { refuse("recvAnysource (recv without a source)"); }
void Pg::monitoredBarrier(const c10d::BarrierOptions&, bool) { refuse("monitoredBarrier"); }

}  // namespace isthmus::torch_binding
