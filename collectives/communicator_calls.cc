// The collectives of a communicator: checks of the arguments, and the schedule of each.
#include "collectives/communicator.h"
#include "collectives/schedule/all_gather.h"
#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/barrier.h"
#include "collectives/schedule/broadcast.h"
#include "collectives/schedule/point_to_point.h"
#include "collectives/schedule/reduce_scatter.h"
#include "runtime/device/reduce.h"

namespace isthmus {
namespace {

Status check_pointer(std::string_view operation, std::string_view name, const void* pointer, std::size_t bytes) {
  if (pointer != nullptr || bytes == 0) return Status();
  return invalid_argument("{}: {} is null, {} bytes are expected there", operation, name, bytes);
}

// Buffers are apart, or `recv` lies exactly `in_place_bytes` after `send` (or before it, for the other way round).
Status check_overlap(std::string_view operation, const void* send, std::size_t send_bytes, const void* recv,
                     std::size_t recv_bytes, std::ptrdiff_t in_place_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(send), b = reinterpret_cast<std::uintptr_t>(recv);
  if (send_bytes == 0 || recv_bytes == 0) return Status();
  if (a + send_bytes <= b || b + recv_bytes <= a) return Status();
  if (static_cast<std::ptrdiff_t>(b - a) == in_place_bytes) return Status();
  return invalid_argument("{}: send and recv overlap without being in place (recv is {} bytes after send)", operation,
                          static_cast<std::ptrdiff_t>(b - a));
}

Status check_rank(std::string_view operation, std::string_view name, int rank, int size) {
  if (rank >= 0 && rank < size) return Status();
  return invalid_argument("{}: {} {} is not in 0..{}", operation, name, rank, size - 1);
}

}  // namespace

Communicator::WorkResult Communicator::allreduce(const void* send, void* recv, std::size_t count, DataType type,
                                                 ReduceOp op, const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("allreduce", count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_reducible(type, op).with_context("allreduce"));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("allreduce", "send", send, bytes));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("allreduce", "recv", recv, bytes));
  ISTHMUS_RETURN_IF_ERROR(check_overlap("allreduce", send, bytes, recv, bytes, 0));
  AllreduceRequest request;
  request.rank = rank_;
  request.count = count;
  request.type = type;
  request.op = op;
  ISTHMUS_ASSIGN_OR_RETURN(request.algorithm,
                           parse_allreduce_algorithm(runtime_->options().algorithm, sites_.site_count()));
  request.chunk_bytes = static_cast<std::size_t>(runtime_->options().chunk_bytes);
  Launch launched;
  launched.words = "allreduce";
  launched.descriptor = {OperationKind::kAllreduce, type, op, static_cast<std::uint8_t>(request.algorithm), 0, count,
                         request.chunk_bytes};
  launched.schedule = std::make_shared<Schedule>(build_allreduce(sites_, request));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::broadcast(void* buffer, std::size_t count, DataType type, int root,
                                                 const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("broadcast", count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_rank("broadcast", "root", root, size()));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("broadcast", "buffer", buffer, bytes));
  const auto chunk_bytes = static_cast<std::size_t>(runtime_->options().chunk_bytes);
  Launch launched;
  launched.words = "broadcast";
  launched.descriptor = {OperationKind::kBroadcast,        type,  ReduceOp::kSum, 0,
                         static_cast<std::uint32_t>(root), count, chunk_bytes};
  launched.schedule = std::make_shared<Schedule>(build_broadcast(sites_, {rank_, root, bytes, chunk_bytes}));
  launched.output = buffer;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::all_gather(const void* send, void* recv, std::size_t count, DataType type,
                                                  const CallOptions& options) {
  const auto ranks = static_cast<std::size_t>(size());
  ISTHMUS_RETURN_IF_ERROR(check_call("all_gather", count, type, ranks));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_gather", "send", send, bytes));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_gather", "recv", recv, bytes * ranks));
  ISTHMUS_RETURN_IF_ERROR(
      check_overlap("all_gather", send, bytes, recv, bytes * ranks, -static_cast<std::ptrdiff_t>(bytes) * rank_));
  const auto chunk_bytes = static_cast<std::size_t>(runtime_->options().chunk_bytes);
  Launch launched;
  launched.words = "all_gather";
  launched.descriptor = {OperationKind::kAllGather, type, ReduceOp::kSum, 0, 0, count, chunk_bytes};
  launched.schedule = std::make_shared<Schedule>(build_all_gather(sites_, {rank_, bytes, chunk_bytes}));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::reduce_scatter(const void* send, void* recv, std::size_t count, DataType type,
                                                      ReduceOp op, const CallOptions& options) {
  const auto ranks = static_cast<std::size_t>(size());
  ISTHMUS_RETURN_IF_ERROR(check_call("reduce_scatter", count, type, ranks));
  ISTHMUS_RETURN_IF_ERROR(check_reducible(type, op).with_context("reduce_scatter"));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("reduce_scatter", "send", send, bytes * ranks));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("reduce_scatter", "recv", recv, bytes));
  ISTHMUS_RETURN_IF_ERROR(
      check_overlap("reduce_scatter", send, bytes * ranks, recv, bytes, static_cast<std::ptrdiff_t>(bytes) * rank_));
  const auto chunk_bytes = static_cast<std::size_t>(runtime_->options().chunk_bytes);
  Launch launched;
  launched.words = "reduce_scatter";
  launched.descriptor = {OperationKind::kReduceScatter, type, op, 0, 0, count, chunk_bytes};
  launched.schedule = std::make_shared<Schedule>(build_reduce_scatter(sites_, {rank_, count, type, op, chunk_bytes}));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::barrier(const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("barrier", 0, DataType::kUInt8, 1));
  Launch launched;
  launched.words = "barrier";
  launched.descriptor.kind = OperationKind::kBarrier;
  launched.schedule = std::make_shared<Schedule>(build_barrier(sites_, rank_));
  return launch(launched, options);
}

// A message is one step; both ends have the same descriptor.
Communicator::WorkResult Communicator::message(bool is_send, const void* input, void* output, std::size_t count,
                                               DataType type, int peer, const CallOptions& options) {
  const char* const words = is_send ? "send" : "recv";
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_call(words, count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_rank(words, is_send ? "destination" : "source", peer, size()));
  if (peer == rank_) return invalid_argument("{}: rank {} is this rank itself", words, peer);
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "buffer", is_send ? input : output, bytes));
  Launch launched;
  launched.words = words;
  launched.descriptor = {OperationKind::kPointToPoint, type, ReduceOp::kSum, 0, 0, count, 0};
  launched.schedule = std::make_shared<Schedule>(is_send ? build_send(peer, bytes) : build_receive(peer, bytes));
  launched.input = input;
  launched.output = output;
  return launch_point_to_point(launched, is_send ? rank_ : peer, is_send ? peer : rank_, options);
}

Communicator::WorkResult Communicator::send(const void* buffer, std::size_t count, DataType type, int destination,
                                            const CallOptions& options) {
  return message(true, buffer, nullptr, count, type, destination, options);
}

Communicator::WorkResult Communicator::receive(void* buffer, std::size_t count, DataType type, int source,
                                               const CallOptions& options) {
  return message(false, nullptr, buffer, count, type, source, options);
}

}  // namespace isthmus
