// The operations of ProcessGroupIsthmus between two ranks.
#include <ATen/core/grad_mode.h>

#include <utility>

#include "bindings/torch/backend.h"
#include "bindings/torch/tensors.h"
#include "bindings/torch/types.h"

namespace isthmus::torch_binding {

using c10d::OpType;
using Pg = ProcessGroupIsthmus;

Pg::WorkPtr Pg::send(Tensors& tensors, int destination, int tag) {
  const at::NoGradGuard no_grad;
  auto call = new_call("send", "isthmus:send", OpType::SEND);
  const auto& tensor = check_one(tensors, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(tensor.scalar_type(), call.operation);
  isthmus_call_options options = call_options(c10d::kUnsetTimeout);
  options.tag = check_tag(tag, call.operation);
  const at::Tensor buffer = call.staging.read(tensor);
  call.inputs = call.outputs = tensors;
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_send(communicator, buffer.const_data_ptr(), count_of(buffer), dtype, destination, &options, handle);
  });
  return started(work);
}

Pg::WorkPtr Pg::recv(Tensors& tensors, int source, int tag) {
  auto call = new_call("recv", "isthmus:recv", OpType::RECV);
  call.source_rank = source;
  return receive(std::move(call), tensors, source, tag);
}

Pg::WorkPtr Pg::recvAnysource(Tensors& tensors, int tag) {
  auto call = new_call("recvAnysource", "isthmus:recvAnySource", OpType::RECVANYSOURCE);
  call.any_source = true;
  return receive(std::move(call), tensors, ISTHMUS_ANY_SOURCE, tag);
}

Pg::WorkPtr Pg::receive(WorkIsthmus::Call call, const Tensors& tensors, int source, int tag) {
  const at::NoGradGuard no_grad;
  const auto& tensor = check_one(tensors, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(tensor.scalar_type(), call.operation);
  isthmus_call_options options = call_options(c10d::kUnsetTimeout);
  options.tag = check_tag(tag, call.operation);
  const at::Tensor buffer = call.staging.write(tensor);
  call.inputs = call.outputs = tensors;
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_recv(communicator, buffer.data_ptr(), count_of(buffer), dtype, source, &options, handle);
  });
  return started(work);
}

}  // namespace isthmus::torch_binding
