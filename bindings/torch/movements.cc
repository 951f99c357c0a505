// The operations of ProcessGroupIsthmus that move tensors as they are between all ranks, and the barrier.
#include <ATen/core/grad_mode.h>

#include <cstddef>
#include <utility>

#include "bindings/torch/backend.h"
#include "bindings/torch/tensors.h"
#include "bindings/torch/types.h"

namespace isthmus::torch_binding {

using c10d::OpType;
using Pg = ProcessGroupIsthmus;

Pg::WorkPtr Pg::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("broadcast", "isthmus:broadcast", OpType::BROADCAST);
  const auto& tensor = check_one(tensors, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(tensor.scalar_type(), call.operation);
  const int root = static_cast<int>(opts.rootRank);
  const at::Tensor buffer = root == getRank() ? call.staging.read(tensor) : call.staging.write(tensor);
  const isthmus_call_options options = call_options(opts.timeout);
  call.inputs = call.outputs = tensors;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_broadcast(communicator, buffer.data_ptr(), count_of(buffer), dtype, root, &options, handle);
  });
}

Pg::WorkPtr Pg::allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("allgather", "isthmus:all_gather", OpType::ALLGATHER);
  const auto& input = check_one(inputs, call.operation);
  const auto& list = check_list(outputs, input, getRank(), getSize(), call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(input.scalar_type(), call.operation);
  const std::vector<size_t> counts = counts_of(list);
  const isthmus_call_options options = call_options(opts.timeout);
  // The outputs may be the input, or each other: nothing but the flat copy is written before all is received.
  const at::Tensor recv = call.staging.write_list(list);
  const at::Tensor send = call.staging.read(input);
  call.inputs = inputs;
  call.outputs = list;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    if (all_equal(counts)) {
      return isthmus_all_gather(communicator, send.const_data_ptr(), recv.data_ptr(), counts.front(), dtype, &options,
                                handle);
    }
    return isthmus_all_gather_v(communicator, send.const_data_ptr(), recv.data_ptr(), counts.data(), dtype, &options,
                                handle);
  });
}

Pg::WorkPtr Pg::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) {
  return gather_all(new_call("_allgather_base", "isthmus:all_gather_into_tensor", OpType::_ALLGATHER_BASE), {output},
                    {input}, opts.timeout);
}

Pg::WorkPtr Pg::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  return gather_all(
      new_call("allgather_into_tensor_coalesced", "isthmus:all_gather_into_tensor", OpType::ALLGATHER_COALESCED),
      outputs, inputs, opts.timeout);
}

Pg::WorkPtr Pg::allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("allgather_coalesced", "isthmus:all_gather", OpType::ALLGATHER_COALESCED);
  TORCH_CHECK_VALUE(outputs.size() == static_cast<size_t>(getSize()), "isthmus: ", call.operation, ": ", outputs.size(),
                    " lists for ", getSize(), " ranks");
  Tensors flat;
  for (size_t index = 0; index < inputs.size(); ++index) {
    check_tensor(inputs[index], call.operation);
    Tensors of_ranks;  // outputs[rank][index]
    for (const auto& list : outputs) {
      TORCH_CHECK_VALUE(list.size() == inputs.size(), "isthmus: ", call.operation, ": a list of ", list.size(),
                        " outputs for ", inputs.size(), " inputs");
      of_ranks.push_back(list[index]);
    }
    check_list({of_ranks}, inputs[index], getRank(), getSize(), call.operation);
    check_even(of_ranks, inputs[index], call.operation);
    to_isthmus_dtype(inputs[index].scalar_type(), call.operation);
    flat.push_back(call.staging.write_list(of_ranks));
    call.outputs.insert(call.outputs.end(), of_ranks.begin(), of_ranks.end());
  }
  return gather_all(std::move(call), flat, inputs, opts.timeout);
}

Pg::WorkPtr Pg::gather_all(WorkIsthmus::Call call, const Tensors& outputs, const Tensors& inputs,
                           std::chrono::milliseconds timeout) {
  const at::NoGradGuard no_grad;
  check_pairs(outputs, inputs, getSize(), call.operation);
  Buffers buffers;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const isthmus_dtype dtype = to_isthmus_dtype(inputs[index].scalar_type(), call.operation);
    const at::Tensor recv = call.staging.write(outputs[index]);
    at::Tensor send = call.staging.read(inputs[index]);
    const auto* own_block = static_cast<const std::byte*>(recv.const_data_ptr()) + send.nbytes() * getRank();
    if (memory_overlaps(send, recv) && send.const_data_ptr() != own_block) send = call.staging.copy(send);
    buffers.push_back({sizeof(isthmus_buffer), send.const_data_ptr(), recv.data_ptr(), count_of(send), dtype});
  }
  call.inputs = inputs;
  if (call.outputs.empty()) call.outputs = outputs;
  if (buffers.empty()) return launch_nothing(std::move(call));
  const isthmus_call_options options = call_options(timeout);
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    if (buffers.size() == 1) {
      const isthmus_buffer& only = buffers.front();
      return isthmus_all_gather(communicator, only.send, only.recv, only.count, only.dtype, &options, handle);
    }
    return isthmus_all_gather_coalesced(communicator, buffers.data(), buffers.size(), &options, handle);
  });
}

Pg::WorkPtr Pg::gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("gather", "isthmus:gather", OpType::GATHER);
  const auto& input = check_one(inputs, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(input.scalar_type(), call.operation);
  const int root = static_cast<int>(opts.rootRank);
  at::Tensor recv;
  if (root == getRank()) {
    call.outputs = check_list(outputs, input, root, getSize(), call.operation);
    check_even(call.outputs, input, call.operation);
    recv = call.staging.write_list(call.outputs);
  } else {
    check_no_list(outputs, call.operation);
  }
  const at::Tensor send = call.staging.read(input);
  const isthmus_call_options options = call_options(opts.timeout);
  call.inputs = inputs;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_gather(communicator, send.const_data_ptr(), recv.defined() ? recv.data_ptr() : nullptr,
                          count_of(send), dtype, root, &options, handle);
  });
}

Pg::WorkPtr Pg::scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("scatter", "isthmus:scatter", OpType::SCATTER);
  const auto& output = check_one(outputs, call.operation);
  const isthmus_dtype dtype = to_isthmus_dtype(output.scalar_type(), call.operation);
  const int root = static_cast<int>(opts.rootRank);
  at::Tensor send;
  if (root == getRank()) {
    call.inputs = check_list(inputs, output, root, getSize(), call.operation);
    check_even(call.inputs, output, call.operation);
    send = call.staging.read_list(call.inputs);
  } else {
    check_no_list(inputs, call.operation);
  }
  const at::Tensor recv = call.staging.write(output);
  const isthmus_call_options options = call_options(opts.timeout);
  call.outputs = outputs;
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_scatter(communicator, send.defined() ? send.const_data_ptr() : nullptr, recv.data_ptr(),
                           count_of(recv), dtype, root, &options, handle);
  });
}

Pg::WorkPtr Pg::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("alltoall", "isthmus:all_to_all", OpType::ALLTOALL);
  const auto rank = static_cast<size_t>(getRank());
  TORCH_CHECK_VALUE(inputs.size() == static_cast<size_t>(getSize()), "isthmus: ", call.operation, ": a list of ",
                    inputs.size(), " tensors for ", getSize(), " ranks");
  check_tensor(inputs[rank], call.operation);
  check_list({inputs}, inputs[rank], getRank(), getSize(), call.operation);
  check_list({outputs}, inputs[rank], getRank(), getSize(), call.operation);
  const at::Tensor send = call.staging.read_list(inputs);
  const at::Tensor recv = call.staging.write_list(outputs);
  call.inputs = inputs;
  call.outputs = outputs;
  return exchange_all(std::move(call), {send, counts_of(inputs)}, {recv, counts_of(outputs)}, opts.timeout);
}

Pg::WorkPtr Pg::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
                              std::vector<int64_t>& input_split_sizes, const c10d::AllToAllOptions& opts) {
  const at::NoGradGuard no_grad;
  auto call = new_call("alltoall_base", "isthmus:all_to_all", OpType::ALLTOALL_BASE);
  check_tensor(output, call.operation);
  check_tensor(input, call.operation);
  check_same_type(output, input, call.operation);
  const Blocks to{{}, split_counts(input, input_split_sizes, getSize(), call.operation)};
  const Blocks from{{}, split_counts(output, output_split_sizes, getSize(), call.operation)};
  const at::Tensor recv = call.staging.write(output);
  at::Tensor send = call.staging.read(input);
  if (memory_overlaps(send, recv)) send = call.staging.copy(send);
  call.inputs = {input};
  call.outputs = {output};
  return exchange_all(std::move(call), {send, to.counts}, {recv, from.counts}, opts.timeout);
}

Pg::WorkPtr Pg::exchange_all(WorkIsthmus::Call call, const Blocks& to, const Blocks& from,
                             std::chrono::milliseconds timeout) {
  const isthmus_dtype dtype = to_isthmus_dtype(to.flat.scalar_type(), call.operation);
  const isthmus_call_options options = call_options(timeout);
  // Whether blocks are even must not decide on the operation: another rank's may not be.
  return launch(std::move(call), [&](isthmus_communicator* communicator, isthmus_work** handle) {
    return isthmus_all_to_all_v(communicator, to.flat.const_data_ptr(), to.counts.data(), from.flat.data_ptr(),
                                from.counts.data(), dtype, &options, handle);
  });
}

Pg::WorkPtr Pg::barrier(const c10d::BarrierOptions& opts) {
  const isthmus_call_options options = call_options(opts.timeout);
  return launch(new_call("barrier", "isthmus:barrier", OpType::BARRIER),
                [&](isthmus_communicator* communicator, isthmus_work** handle) {
                  return isthmus_barrier(communicator, &options, handle);
                });
}

void Pg::monitoredBarrier(const c10d::BarrierOptions& opts, bool /*wait_all_ranks*/) { barrier(opts)->wait(); }

}  // namespace isthmus::torch_binding
