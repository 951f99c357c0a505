// All-to-all of a communicator: checks of the arguments, and the schedule.
#include "collectives/call_checks.h"
#include "collectives/communicator.h"
#include "collectives/schedule/all_to_all.h"

namespace isthmus {

Communicator::WorkResult Communicator::all_to_all(const void* send, void* recv, std::size_t count, DataType type,
                                                  const CallOptions& options) {
  const auto ranks = static_cast<std::size_t>(size());
  ISTHMUS_RETURN_IF_ERROR(check_call("all_to_all", count, type, ranks));
  const std::size_t bytes = count * dtype_size_bytes(type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_to_all", "send", send, bytes * ranks));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_to_all", "recv", recv, bytes * ranks));
  ISTHMUS_RETURN_IF_ERROR(check_apart("all_to_all", send, bytes * ranks, recv, bytes * ranks));
  ISTHMUS_ASSIGN_OR_RETURN(const AllToAllAlgorithm algorithm,
                           parse_all_to_all_algorithm(runtime_->options().all_to_all, sites_, bytes));
  Launch launched;
  launched.words = "all_to_all";
  launched.descriptor = {
      OperationKind::kAllToAll, type, ReduceOp::kSum, static_cast<std::uint8_t>(algorithm), 0, count, 0};
  launched.schedule = std::make_shared<Schedule>(build_all_to_all(sites_, {rank_, bytes, algorithm}));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::all_to_all_v(const void* send, std::span<const std::size_t> send_counts,
                                                    void* recv, std::span<const std::size_t> recv_counts, DataType type,
                                                    const CallOptions& options) {
  const Counts out = Counts::each(send_counts), in = Counts::each(recv_counts);
  ISTHMUS_RETURN_IF_ERROR(check_counts("all_to_all_v (send)", out, type));
  ISTHMUS_RETURN_IF_ERROR(check_counts("all_to_all_v (recv)", in, type));
  const auto own = static_cast<std::size_t>(rank_);
  if (send_counts[own] != recv_counts[own])
    return invalid_argument("all_to_all_v: this rank ({}) sends {} elements to itself and receives {} from itself",
                            own_name(), send_counts[own], recv_counts[own]);
  const BlockBytes send_bytes(out, rank_, type), recv_bytes(in, rank_, type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_to_all_v", "send", send, send_bytes.total));
  ISTHMUS_RETURN_IF_ERROR(check_pointer("all_to_all_v", "recv", recv, recv_bytes.total));
  ISTHMUS_RETURN_IF_ERROR(check_apart("all_to_all_v", send, send_bytes.total, recv, recv_bytes.total));
  Launch launched;
  launched.words = "all_to_all_v";
  launched.descriptor.kind = OperationKind::kAllToAllV;
  launched.descriptor.type = type;
  launched.schedule =
      std::make_shared<Schedule>(build_all_to_all_v(sites_, {rank_, send_bytes.of_rank, recv_bytes.of_rank}));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

}  // namespace isthmus
