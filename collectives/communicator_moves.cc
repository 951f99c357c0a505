// The collectives of a communicator that move data and reduce nothing: checks of the arguments, and the schedule of
// each.
#include "collectives/call_checks.h"
#include "collectives/communicator.h"
#include "collectives/schedule/all_gather.h"
#include "collectives/schedule/barrier.h"
#include "collectives/schedule/broadcast.h"
#include "collectives/schedule/gather.h"

namespace isthmus {

Communicator::WorkResult Communicator::broadcast(void* buffer, std::size_t count, DataType type, int root,
                                                 const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("broadcast", count, type, 1));
  ISTHMUS_RETURN_IF_ERROR(check_rank("broadcast", "root", root, size()));
  const std::size_t bytes = count * dtype_size_bytes(type), chunk = chunk_bytes();
  ISTHMUS_RETURN_IF_ERROR(check_pointer("broadcast", "buffer", buffer, bytes));
  Launch launched;
  launched.words = "broadcast";
  launched.descriptor = {OperationKind::kBroadcast,        type,  ReduceOp::kSum, 0,
                         static_cast<std::uint32_t>(root), count, chunk};
  launched.schedule = std::make_shared<Schedule>(build_broadcast(sites_, {rank_, root, bytes, chunk}));
  launched.output = buffer;
  return launch(launched, options);
}

Result<Communicator::Launch> Communicator::prepare_all_gather(const void* send, void* recv, const Counts& counts,
                                                              DataType type) const {
  const char* const words = counts.is_equal ? "all_gather" : "all_gather_v";
  ISTHMUS_RETURN_IF_ERROR(check_counts(words, counts, type));
  const BlockBytes bytes(counts, rank_, type);
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "send", send, bytes.own));
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "recv", recv, bytes.total));
  ISTHMUS_RETURN_IF_ERROR(
      check_overlap(words, send, bytes.own, recv, bytes.total, -static_cast<std::ptrdiff_t>(bytes.before_own)));
  Launch launched;
  launched.words = words;
  launched.descriptor.kind = counts.is_equal ? OperationKind::kAllGather : OperationKind::kAllGatherV;
  describe_blocks(counts, type, &launched.descriptor);
  launched.schedule = std::make_shared<Schedule>(build_all_gather(sites_, {rank_, bytes.of_rank, chunk_bytes()}));
  launched.input = send;
  launched.output = recv;
  return launched;
}

Communicator::WorkResult Communicator::all_gather(const void* send, void* recv, std::size_t count, DataType type,
                                                  const CallOptions& options) {
  return launch(prepare_all_gather(send, recv, Counts::equal(count, size()), type), options);
}

Communicator::WorkResult Communicator::all_gather_v(const void* send, void* recv, std::span<const std::size_t> counts,
                                                    DataType type, const CallOptions& options) {
  return launch(prepare_all_gather(send, recv, Counts::each(counts), type), options);
}

Communicator::WorkResult Communicator::rooted(bool is_gather, const void* send, void* recv, const Counts& counts,
                                              DataType type, int root, const CallOptions& options) {
  const std::string words = fmt::format("{}{}", is_gather ? "gather" : "scatter", counts.is_equal ? "" : "_v");
  ISTHMUS_RETURN_IF_ERROR(check_counts(words, counts, type));
  ISTHMUS_RETURN_IF_ERROR(check_rank(words, "root", root, size()));
  const BlockBytes bytes(counts, rank_, type);
  const std::size_t at_root = rank_ == root ? bytes.total : 0;
  const std::size_t send_bytes = is_gather ? bytes.own : at_root, recv_bytes = is_gather ? at_root : bytes.own;
  const auto before_own = static_cast<std::ptrdiff_t>(bytes.before_own);
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "send", send, send_bytes));
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "recv", recv, recv_bytes));
  ISTHMUS_RETURN_IF_ERROR(
      check_overlap(words, send, send_bytes, recv, recv_bytes, is_gather ? -before_own : before_own));
  Launch launched;
  launched.words = words;
  if (is_gather)
    launched.descriptor.kind = counts.is_equal ? OperationKind::kGather : OperationKind::kGatherV;
  else
    launched.descriptor.kind = counts.is_equal ? OperationKind::kScatter : OperationKind::kScatterV;
  launched.descriptor.root = static_cast<std::uint32_t>(root);
  describe_blocks(counts, type, &launched.descriptor);
  const RootedRequest request{rank_, root, bytes.of_rank};
  launched.schedule = std::make_shared<Schedule>(is_gather ? build_gather(request) : build_scatter(request));
  launched.input = send;
  launched.output = recv;
  return launch(launched, options);
}

Communicator::WorkResult Communicator::gather(const void* send, void* recv, std::size_t count, DataType type, int root,
                                              const CallOptions& options) {
  return rooted(true, send, recv, Counts::equal(count, size()), type, root, options);
}

Communicator::WorkResult Communicator::gather_v(const void* send, void* recv, std::span<const std::size_t> counts,
                                                DataType type, int root, const CallOptions& options) {
  return rooted(true, send, recv, Counts::each(counts), type, root, options);
}

Communicator::WorkResult Communicator::scatter(const void* send, void* recv, std::size_t count, DataType type, int root,
                                               const CallOptions& options) {
  return rooted(false, send, recv, Counts::equal(count, size()), type, root, options);
}

Communicator::WorkResult Communicator::scatter_v(const void* send, void* recv, std::span<const std::size_t> counts,
                                                 DataType type, int root, const CallOptions& options) {
  return rooted(false, send, recv, Counts::each(counts), type, root, options);
}

Communicator::WorkResult Communicator::barrier(const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("barrier", 0, DataType::kUInt8, 1));
  Launch launched;
  launched.words = "barrier";
  launched.descriptor.kind = OperationKind::kBarrier;
  launched.schedule = std::make_shared<Schedule>(build_barrier(sites_, rank_));
  return launch(launched, options);
}

}  // namespace isthmus
