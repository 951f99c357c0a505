// The reductions of a communicator: checks of the arguments, and the schedule of each.
#include "collectives/call_checks.h"
#include "collectives/communicator.h"
#include "collectives/schedule/allreduce.h"
#include "collectives/schedule/chunks.h"
#include "collectives/schedule/reduce.h"
#include "collectives/schedule/reduce_scatter.h"
#include "runtime/device/reducible.h"

namespace isthmus {
namespace {

// An allreduce of more than kPartsAtOnce parts is done part by part, so that the memory for what it receives does not
// grow with the buffer. While one part ends the next fills the line: 64 MiB at the default chunk_bytes, 100 ms at
// 5 Gbit/s.
constexpr std::size_t kChunksPerPart = 256;
constexpr std::size_t kPartsAtOnce = 2;

}  // namespace

// The algorithm and the steps, without the buffers.
Result<Communicator::Launch> Communicator::plan_allreduce(std::size_t count, DataType type, ReduceOp op) const {
  AllreduceRequest request;
  request.rank = rank_;
  request.count = count;
  request.type = type;
  request.op = op;
  PlanRequest wanted;
  wanted.bytes = count * dtype_size_bytes(type);
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
  return launched;
}

// Parts depend on count, type and chunk_bytes alone, so all ranks make the same; each says the count of the whole call.
Result<Communicator::Launches> Communicator::prepare_allreduce(const void* send, void* recv, std::size_t count,
                                                               DataType type, ReduceOp op) const {
  ISTHMUS_RETURN_IF_ERROR(check_call("allreduce", count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_reducible(type, op).with_context("allreduce"));
  const std::size_t element = dtype_size_bytes(type), bytes = count * element;
  ISTHMUS_RETURN_IF_ERROR(check_pointer("allreduce", "send", send, bytes));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("allreduce", "recv", recv, bytes));
  ISTHMUS_RETURN_IF_ERROR(check_overlap("allreduce", send, bytes, recv, bytes, 0));
  const std::size_t part_bytes = kChunksPerPart * chunk_bytes();
  const bool is_whole = bytes <= kPartsAtOnce * part_bytes;
  const std::size_t parts = is_whole ? 1 : (bytes + part_bytes - 1) / part_bytes;
  Launches launches;
  std::size_t planned_count = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const Range range = split_evenly({0, count}, parts, part);
    if (part > 0 && range.size == planned_count) {
      launches.push_back(launches.back());  // the schedule is the same
    } else {
      ISTHMUS_ASSIGN_OR_RETURN(Launch planned, plan_allreduce(range.size, type, op));
      launches.push_back(std::move(planned));
      planned_count = range.size;
    }
    Launch& launched = launches.back();
    launched.descriptor.count = count;
    launched.input = static_cast<const std::byte*>(send) + range.begin * element;
    launched.output = static_cast<std::byte*>(recv) + range.begin * element;
    launched.starts_after = part < kPartsAtOnce ? 0 : kPartsAtOnce;
    if (parts > 1) launched.words = fmt::format("allreduce (part {} of {})", part + 1, parts);
  }
  return launches;
}

Communicator::WorkResult Communicator::allreduce(const void* send, void* recv, std::size_t count, DataType type,
                                                 ReduceOp op, const CallOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(Launches parts, prepare_allreduce(send, recv, count, type, op));
  if (parts.size() == 1) return launch(std::move(parts.front()), options);
  return launch_together(fmt::format("allreduce in {} parts", parts.size()), std::move(parts), options);
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
