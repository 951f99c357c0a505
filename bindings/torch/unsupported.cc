// What torch.distributed has and this backend does not: refused by name.
#include "bindings/torch/backend.h"
#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::allreduce_sparse(Tensors&, const c10d::AllreduceOptions&) {
  throw_status(ISTHMUS_UNSUPPORTED,
               "the backend \"isthmus\" does not have allreduce_sparse; it has every other operation of "
               "torch.distributed");
}

}  // namespace isthmus::torch_binding
