// The operations of ProcessGroupIsthmus that reduce.
#include <ATen/core/grad_mode.h>

#include <utility>

#include "bindings/torch/backend.h"
#include "bindings/torch/tensors.h"
#include "bindings/torch/types.h"

namespace isthmus::torch_binding {

using c10d::OpType;
using Pg = ProcessGroupIsthmus;

Pg::WorkPtr Pg::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("allreduce", "isthmus:all_reduce", OpType::ALLREDUCE);
  const auto& tensor = check_one(tensors, call.operation);
  const Reduction reduction(opts.reduceOp, tensor.scalar_type(), call.operation);
  const isthmus_call_options options = reduction.set(call_options(opts.timeout));
  const at::Tensor buffer = call.staging.update(tensor);
  call.inputs = call.outputs = tensors;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_allreduce(communicator, buffer.const_data_ptr(), buffer.data_ptr(), count_of(buffer),
                             reduction.dtype(), reduction.op(), &options, handle);
  });
}

Pg::WorkPtr Pg::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("allreduce_coalesced", "isthmus:all_reduce", OpType::ALLREDUCE_COALESCED);
  Buffers buffers;
  for (const auto& tensor : tensors) {
    check_tensor(tensor, call.operation);
    const Reduction reduction(opts.reduceOp, tensor.scalar_type(), call.operation);
    const at::Tensor buffer = call.staging.update(tensor);
    buffers.push_back(
        {sizeof(isthmus_buffer), buffer.const_data_ptr(), buffer.data_ptr(), count_of(buffer), reduction.dtype()});
  }
  call.inputs = call.outputs = tensors;
  return launch_reductions(std::move(call), buffers, tensors, opts.reduceOp, opts.timeout,
                           {isthmus_allreduce, isthmus_allreduce_coalesced});
}

Pg::WorkPtr Pg::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("reduce", "isthmus:reduce", OpType::REDUCE);
  const auto& tensor = check_one(tensors, call.operation);
  const Reduction reduction(opts.reduceOp, tensor.scalar_type(), call.operation);
  const isthmus_call_options options = reduction.set(call_options(opts.timeout));
  const int root = static_cast<int>(opts.rootRank);
  const bool at_root = root == getRank();
  const at::Tensor buffer = at_root ? call.staging.update(tensor) : call.staging.read(tensor);
  call.inputs = call.outputs = tensors;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_reduce(communicator, buffer.const_data_ptr(), at_root ? buffer.data_ptr() : nullptr,
                          count_of(buffer), reduction.dtype(), reduction.op(), root, &options, handle);
  });
}

Pg::WorkPtr Pg::reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("reduce_scatter", "isthmus:reduce_scatter", OpType::REDUCE_SCATTER);
  const auto& output = check_one(outputs, call.operation);
  const auto& list = check_list(inputs, output, getRank(), getSize(), call.operation);
  const Reduction reduction(opts.reduceOp, output.scalar_type(), call.operation);
  const isthmus_call_options options = reduction.set(call_options(opts.timeout));
  const std::vector<size_t> counts = counts_of(list);
  const at::Tensor send = call.staging.read_list(list);
  const at::Tensor recv = call.staging.write(output);
  call.inputs = list;
  call.outputs = outputs;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    if (all_equal(counts)) {
      return isthmus_reduce_scatter(communicator, send.const_data_ptr(), recv.data_ptr(), counts.front(),
                                    reduction.dtype(), reduction.op(), &options, handle);
    }
    return isthmus_reduce_scatter_v(communicator, send.const_data_ptr(), recv.data_ptr(), counts.data(),
                                    reduction.dtype(), reduction.op(), &options, handle);
  });
}

Pg::WorkPtr Pg::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) {
  return reduce_scatter_all(
      new_call("_reduce_scatter_base", "isthmus:reduce_scatter_tensor", OpType::_REDUCE_SCATTER_BASE), {output},
      {input}, opts.reduceOp, opts.timeout);
}

Pg::WorkPtr Pg::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                const c10d::ReduceScatterOptions& opts) {
  return reduce_scatter_all(new_call("reduce_scatter_tensor_coalesced", "isthmus:reduce_scatter_tensor",
                                     OpType::REDUCE_SCATTER_TENSOR_COALESCED),
                            outputs, inputs, opts.reduceOp, opts.timeout);
}

Pg::WorkPtr Pg::reduce_scatter_all(WorkIsthmus::Call call, const Tensors& outputs, const Tensors& inputs,
                                   const c10d::ReduceOp& op, std::chrono::milliseconds timeout) {
  const at::NoGradGuard no_grad;
  check_pairs(inputs, outputs, getSize(), call.operation);
  Buffers buffers;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const Reduction reduction(op, inputs[index].scalar_type(), call.operation);
    const at::Tensor recv = call.staging.write(outputs[index]);
    at::Tensor send = call.staging.read(inputs[index]);
    // In place, the library would use the rest of the input as scratch; torch's callers keep their input.
    if (memory_overlaps(send, recv)) send = call.staging.copy(send);
    buffers.push_back(
        {sizeof(isthmus_buffer), send.const_data_ptr(), recv.data_ptr(), count_of(recv), reduction.dtype()});
  }
  call.inputs = inputs;
  call.outputs = outputs;
  return launch_reductions(std::move(call), buffers, inputs, op, timeout,
                           {isthmus_reduce_scatter, isthmus_reduce_scatter_coalesced});
}

Pg::WorkPtr Pg::launch_reductions(WorkIsthmus::Call call, const Buffers& buffers, const Tensors& tensors,
                                  const c10d::ReduceOp& op, std::chrono::milliseconds timeout, ReductionCalls calls) {
  if (buffers.empty()) return launch_nothing(std::move(call));
  const Reduction reduction(op, tensors.front().scalar_type(), call.operation);
  const isthmus_call_options options = reduction.set(call_options(timeout));
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    if (buffers.size() > 1) {
      return calls.coalesced(communicator, buffers.data(), buffers.size(), reduction.op(), &options, handle);
    }
    const isthmus_buffer& only = buffers.front();
    return calls.single(communicator, only.send, only.recv, only.count, only.dtype, reduction.op(), &options, handle);
  });
}

}  // namespace isthmus::torch_binding
