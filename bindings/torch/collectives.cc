// The operations of ProcessGroupIsthmus: each checks its tensors, stages them, and starts one operation of the C API
// per tensor.
#include <ATen/core/grad_mode.h>

#include <utility>

#include "bindings/torch/backend.h"
#include "bindings/torch/types.h"

namespace isthmus::torch_binding {
namespace {

using c10d::OpType;

void check_tensor(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK_VALUE(tensor.defined(), "isthmus: ", operation, ": an undefined tensor");
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.device().is_cpu(), "isthmus: unsupported: ", operation, " of a tensor on ",
                              tensor.device(), "; Isthmus takes CPU tensors");
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, "isthmus: unsupported: ", operation,
                              " of a tensor with layout ", tensor.layout(), "; Isthmus takes strided tensors");
}

const at::Tensor& check_one(const std::vector<at::Tensor>& tensors, const char* operation) {
  TORCH_CHECK_VALUE(tensors.size() == 1, "isthmus: ", operation, ": takes one tensor per rank, got ", tensors.size());
  check_tensor(tensors.front(), operation);
  return tensors.front();
}

void check_same_type(const at::Tensor& output, const at::Tensor& input, const char* operation) {
  TORCH_CHECK_VALUE(output.scalar_type() == input.scalar_type(), "isthmus: ", operation, ": output of ",
                    output.scalar_type(), ", input of ", input.scalar_type());
}

// `whole` has room for one `part` per rank.
void check_whole(const at::Tensor& whole, const at::Tensor& part, int size, const char* operation) {
  TORCH_CHECK_VALUE(whole.numel() == part.numel() * size, "isthmus: ", operation, ": a tensor of ", whole.numel(),
                    " elements against ", size, " ranks with ", part.numel(), " elements each");
}

void check_list(const std::vector<std::vector<at::Tensor>>& lists, const at::Tensor& part, int size,
                const char* operation) {
  TORCH_CHECK_VALUE(lists.size() == 1, "isthmus: ", operation, ": takes one list per rank, got ", lists.size());
  TORCH_CHECK_VALUE(lists.front().size() == static_cast<size_t>(size), "isthmus: ", operation, ": a list of ",
                    lists.front().size(), " tensors for ", size, " ranks");
  for (size_t rank = 0; rank < lists.front().size(); ++rank) {
    const auto& tensor = lists.front()[rank];
    check_tensor(tensor, operation);
    check_same_type(tensor, part, operation);
    TORCH_CHECK_VALUE(tensor.numel() == part.numel(), "isthmus: ", operation, ": tensor ", rank, " of the list has ",
                      tensor.numel(), " elements, this rank's own ", part.numel(), "; they must be equal");
  }
}

void check_pairs(const std::vector<at::Tensor>& wholes, const std::vector<at::Tensor>& parts, int size,
                 const char* operation) {
  TORCH_CHECK_VALUE(wholes.size() == parts.size(), "isthmus: ", operation, ": ", wholes.size(), " tensors against ",
                    parts.size());
  for (size_t index = 0; index < wholes.size(); ++index) {
    check_tensor(wholes[index], operation);
    check_tensor(parts[index], operation);
    check_same_type(wholes[index], parts[index], operation);
    check_whole(wholes[index], parts[index], size, operation);
  }
}

size_t count_of(const at::Tensor& tensor) { return static_cast<size_t>(tensor.numel()); }

std::uint32_t check_tag(int tag, const char* operation) {
  TORCH_CHECK_VALUE(tag >= 0, "isthmus: ", operation, ": the tag must not be negative, got ", tag);
  return static_cast<std::uint32_t>(tag);
}

// One operation of the C API on staged memory.
struct Buffers {
  at::Tensor send;
  at::Tensor recv;
  isthmus_dtype dtype;
};

}  // namespace

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("broadcast", "isthmus:broadcast", OpType::BROADCAST);
  const auto& tensor = check_one(tensors, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(tensor.scalar_type(), call.operation);
  const int root = static_cast<int>(opts.rootRank);
  const at::Tensor buffer = root == getRank() ? call.staging.read(tensor) : call.staging.write(tensor);
  const isthmus_call_options options = call_options(opts.timeout);
  call.inputs = call.outputs = tensors;
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_broadcast(communicator, buffer.data_ptr(), count_of(buffer), dtype, root, &options, handle);
  });
  return started_collective(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  check_one(tensors, "allreduce");
  return reduce_all(new_call("allreduce", "isthmus:allreduce", OpType::ALLREDUCE), tensors, opts.reduceOp,
                    opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::allreduce_coalesced(Tensors& tensors,
                                                                      const c10d::AllreduceCoalescedOptions& opts) {
  return reduce_all(new_call("allreduce_coalesced", "isthmus:allreduce_coalesced", OpType::ALLREDUCE_COALESCED),
                    tensors, opts.reduceOp, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::reduce_all(WorkIsthmus::Call call, const Tensors& tensors,
                                                             const c10d::ReduceOp& reduce_op,
                                                             std::chrono::milliseconds timeout) {
  const at::NoGradGuard no_grad;
  std::vector<std::pair<Buffers, isthmus_op>> operations;
  for (const auto& tensor : tensors) {
    check_tensor(tensor, call.operation);
    const isthmus_op op = to_isthmus_op(reduce_op, tensor.scalar_type(), call.operation);
    const at::Tensor buffer = call.staging.update(tensor);
    operations.push_back({{buffer, buffer, to_isthmus_dtype(tensor.scalar_type(), call.operation)}, op});
  }
  call.inputs = call.outputs = tensors;
  const isthmus_call_options options = call_options(timeout);
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  for (const auto& [buffers, op] : operations) {
    WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
      return isthmus_allreduce(communicator, buffers.send.const_data_ptr(), buffers.recv.data_ptr(),
                               count_of(buffers.recv), buffers.dtype, op, &options, handle);
    });
  }
  return started_collective(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::allgather(TensorLists& outputs, Tensors& inputs,
                                                            const c10d::AllgatherOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("allgather", "isthmus:allgather", OpType::ALLGATHER);
  const auto& input = check_one(inputs, call.operation);
  check_list(outputs, input, getSize(), call.operation);
  to_isthmus_dtype(input.scalar_type(), call.operation);
  // The outputs may be the input, or each other: nothing but the flat copy is written before all is received.
  const Tensors flat = {call.staging.write_list(outputs.front())};
  call.outputs = outputs.front();
  return gather_all(std::move(call), flat, inputs, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                                  const c10d::AllgatherOptions& opts) {
  auto call = new_call("_allgather_base", "isthmus:_allgather_base", OpType::_ALLGATHER_BASE);
  call.outputs = {output};
  return gather_all(std::move(call), {output}, {input}, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                                  const c10d::AllgatherOptions& opts) {
  auto call = new_call("allgather_into_tensor_coalesced", "isthmus:allgather_into_tensor_coalesced",
                       OpType::ALLGATHER_COALESCED);
  call.outputs = outputs;
  return gather_all(std::move(call), outputs, inputs, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::gather_all(WorkIsthmus::Call call, const Tensors& outputs,
                                                             const Tensors& inputs, std::chrono::milliseconds timeout) {
  const at::NoGradGuard no_grad;
  check_pairs(outputs, inputs, getSize(), call.operation);
  std::vector<Buffers> operations;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const isthmus_dtype dtype = to_isthmus_dtype(inputs[index].scalar_type(), call.operation);
    const at::Tensor recv = call.staging.write(outputs[index]);
    at::Tensor send = call.staging.read(inputs[index]);
    const auto* own_block = static_cast<const std::byte*>(recv.const_data_ptr()) + send.nbytes() * getRank();
    if (memory_overlaps(send, recv) && send.const_data_ptr() != own_block) send = call.staging.copy(send);
    operations.push_back({send, recv, dtype});
  }
  call.inputs = inputs;
  const isthmus_call_options options = call_options(timeout);
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  for (const auto& [send, recv, dtype] : operations) {
    WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
      return isthmus_all_gather(communicator, send.const_data_ptr(), recv.data_ptr(), count_of(send), dtype, &options,
                                handle);
    });
  }
  return started_collective(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                                 const c10d::ReduceScatterOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("reduce_scatter", "isthmus:reduce_scatter", OpType::REDUCE_SCATTER);
  const auto& output = check_one(outputs, call.operation);
  check_list(inputs, output, getSize(), call.operation);
  to_isthmus_op(opts.reduceOp, output.scalar_type(), call.operation);
  const Tensors flat = {call.staging.read_list(inputs.front())};
  call.outputs = outputs;
  return reduce_scatter_all(std::move(call), outputs, flat, opts.reduceOp, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                       const c10d::ReduceScatterOptions& opts) {
  auto call = new_call("_reduce_scatter_base", "isthmus:_reduce_scatter_base", OpType::_REDUCE_SCATTER_BASE);
  call.outputs = {output};
  return reduce_scatter_all(std::move(call), {output}, {input}, opts.reduceOp, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& opts) {
  auto call = new_call("reduce_scatter_tensor_coalesced", "isthmus:reduce_scatter_tensor_coalesced",
                       OpType::REDUCE_SCATTER_TENSOR_COALESCED);
  call.outputs = outputs;
  return reduce_scatter_all(std::move(call), outputs, inputs, opts.reduceOp, opts.timeout);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::reduce_scatter_all(WorkIsthmus::Call call, const Tensors& outputs,
                                                                     const Tensors& inputs,
                                                                     const c10d::ReduceOp& reduce_op,
                                                                     std::chrono::milliseconds timeout) {
  const at::NoGradGuard no_grad;
  check_pairs(inputs, outputs, getSize(), call.operation);
  std::vector<std::pair<Buffers, isthmus_op>> operations;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const isthmus_op op = to_isthmus_op(reduce_op, inputs[index].scalar_type(), call.operation);
    const at::Tensor recv = call.staging.write(outputs[index]);
    at::Tensor send = call.staging.read(inputs[index]);
    // In place, the library would use the rest of the input as scratch; torch's callers keep their input.
    if (memory_overlaps(send, recv)) send = call.staging.copy(send);
    operations.push_back({{send, recv, to_isthmus_dtype(recv.scalar_type(), call.operation)}, op});
  }
  call.inputs = inputs;
  const isthmus_call_options options = call_options(timeout);
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  for (const auto& [buffers, op] : operations) {
    WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
      return isthmus_reduce_scatter(communicator, buffers.send.const_data_ptr(), buffers.recv.data_ptr(),
                                    count_of(buffers.recv), buffers.dtype, op, &options, handle);
    });
  }
  return started_collective(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::barrier(const c10d::BarrierOptions& opts) {
  const isthmus_call_options options = call_options(opts.timeout);
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, new_call("barrier", "isthmus:barrier", OpType::BARRIER));
  WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_barrier(communicator, &options, handle);
  });
  return started_collective(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::send(Tensors& tensors, int destination, int tag) {
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

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::recv(Tensors& tensors, int source, int tag) {
  const at::NoGradGuard no_grad;
  auto call = new_call("recv", "isthmus:recv", OpType::RECV);
  const auto& tensor = check_one(tensors, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(tensor.scalar_type(), call.operation);
  isthmus_call_options options = call_options(c10d::kUnsetTimeout);
  options.tag = check_tag(tag, call.operation);
  const at::Tensor buffer = call.staging.write(tensor);
  call.inputs = call.outputs = tensors;
  call.source_rank = source;
  auto work = c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call));
  WorkIsthmus::start(work, [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_recv(communicator, buffer.data_ptr(), count_of(buffer), dtype, source, &options, handle);
  });
  return started(work);
}

}  // namespace isthmus::torch_binding
