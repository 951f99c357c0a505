// The reductions of a communicator: checks of the arguments, and the schedule of each.
#include "collectives/call_checks.h"
#include "collectives/communicator.h"
#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/reduce.h"
#include "collectives/schedule/reduce_scatter.h"
#include "runtime/device/reducible.h"

namespace isthmus {

Result<Communicator::Launch> Communicator::prepare_allreduce(const void* send, void* recv, std::size_t count,
                                                             DataType type, ReduceOp op) const {
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
  PlanRequest wanted;
  wanted.bytes = bytes;
  wanted.type = type;
  wanted.max_chunk_bytes = static_cast<std::size_t>(runtime_->options().chunk_bytes);
  ISTHMUS_ASSIGN_OR_RETURN(wanted.algorithm, parse_allreduce_algorithm(runtime_->options().algorithm));
  wanted.site_order_only = runtime_->options().deterministic;
  if (wanted.site_order_only && wanted.algorithm && !is_in_site_order(*wanted.algorithm))
    return unsupported("allreduce: algorithm {} does not sum in site order, which the option deterministic asks for",
                       allreduce_algorithm_name(*wanted.algorithm));
  AllreducePlan plan = planner_->plan(wanted);
  request.algorithm = plan.layout.algorithm;
  request.chunk_bytes = plan.chunk_bytes;
  request.owner_weights = std::move(plan.layout.owner_weights);
  request.site_order = std::move(plan.layout.site_order);
  Launch launched;
  launched.words = "allreduce";
  launched.descriptor = {
      OperationKind::kAllreduce, type, op, static_cast<std::uint8_t>(request.algorithm), plan_version_, count,
      request.chunk_bytes};
  launched.schedule = std::make_shared<Schedule>(build_allreduce(sites_, request));
  launched.input = send;
  launched.output = recv;
  return launched;
}

Communicator::WorkResult Communicator::allreduce(const void* send, void* recv, std::size_t count, DataType type,
                                                 ReduceOp op, const CallOptions& options) {
  return launch(prepare_allreduce(send, recv, count, type, op), options);
}

Communicator::WorkResult Communicator::reduce(const void* send, void* recv, std::size_t count, DataType type,
                                              ReduceOp op, int root, const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("reduce", count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_reducible(type, op).with_context("reduce"));
  ISTHMUS_RETURN_IF_ERROR(check_rank("reduce", "root", root, size()));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("reduce", "send", send, bytes));
  if (rank_ == root) {
    ISTHMUS_RETURN_IF_ERROR(check_pointer("reduce", "recv", recv, bytes));
    ISTHMUS_RETURN_IF_ERROR(check_overlap("reduce", send, bytes, recv, bytes, 0));
  }
  const std::size_t chunk = chunk_bytes();
  const ReduceAlgorithm algorithm = choose_reduce_algorithm(sites_.site_count(), bytes, chunk);
  Launch launched;
  launched.words = "reduce";
  launched.descriptor = {OperationKind::kReduce,           type,  op,   static_cast<std::uint8_t>(algorithm),
                         static_cast<std::uint32_t>(root), count, chunk};
  launched.schedule =
      std::make_shared<Schedule>(build_reduce(sites_, {rank_, root, count, type, op, algorithm, chunk}));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Result<Communicator::Launch> Communicator::prepare_reduce_scatter(const void* send, void* recv, const Counts& counts,
                                                                  DataType type, ReduceOp op) const {
  const char* const words = counts.is_equal ? "reduce_scatter" : "reduce_scatter_v";
  ISTHMUS_RETURN_IF_ERROR(check_counts(words, counts, type));
  ISTHMUS_RETURN_IF_ERROR(check_reducible(type, op).with_context(words));
  const BlockBytes bytes(counts, rank_, type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "send", send, bytes.total));
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "recv", recv, bytes.own));
  ISTHMUS_RETURN_IF_ERROR(
      check_overlap(words, send, bytes.total, recv, bytes.own, static_cast<std::ptrdiff_t>(bytes.before_own)));
  Launch launched;
  launched.words = words;
  launched.descriptor.kind = counts.is_equal ? OperationKind::kReduceScatter : OperationKind::kReduceScatterV;
  launched.descriptor.op = op;
  describe_blocks(counts, type, &launched.descriptor);
  launched.schedule =
      std::make_shared<Schedule>(build_reduce_scatter(sites_, {rank_, counts.of_rank, type, op, chunk_bytes()}));
  launched.input = send;
  launched.output = recv;
  return launched;
}

Communicator::WorkResult Communicator::reduce_scatter(const void* send, void* recv, std::size_t count, DataType type,
                                                      ReduceOp op, const CallOptions& options) {
  return launch(prepare_reduce_scatter(send, recv, Counts::equal(count, size()), type, op), options);
}

Communicator::WorkResult Communicator::reduce_scatter_v(const void* send, void* recv,
                                                        std::span<const std::size_t> counts, DataType type, ReduceOp op,
                                                        const CallOptions& options) {
  return launch(prepare_reduce_scatter(send, recv, Counts::each(counts), type, op), options);
}

}  // namespace isthmus
