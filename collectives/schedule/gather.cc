#include "collectives/schedule/gather.h"

#include <functional>

#include "collectives/schedule/builder.h"

namespace isthmus {
namespace {

// Calls `visit(rank, offset, bytes)` for every block that is not empty.
void for_each_block(const RootedRequest& request, const std::function<void(int, std::size_t, std::size_t)>& visit) {
  std::size_t offset = 0;
  for (std::size_t rank = 0; rank < request.block_bytes.size(); ++rank) {
    const std::size_t bytes = request.block_bytes[rank];
    if (bytes > 0) visit(static_cast<int>(rank), offset, bytes);
    offset += bytes;
  }
}

}  // namespace

Schedule build_gather(const RootedRequest& request) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  for_each_block(request, [&](int rank, std::size_t offset, std::size_t bytes) {
    const Region place{Space::kOutput, offset}, own{Space::kInput, 0};
    if (request.rank != request.root) {
      if (rank == request.rank) builder.send(request.root, 0, own, bytes, {});
    } else if (rank == request.root) {
      builder.copy(place, own, bytes, {});
    } else {
      builder.receive(rank, 0, place, bytes, {});
    }
  });
  return builder.take();
}

Schedule build_scatter(const RootedRequest& request) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  for_each_block(request, [&](int rank, std::size_t offset, std::size_t bytes) {
    const Region place{Space::kInput, offset}, own{Space::kOutput, 0};
    if (request.rank != request.root) {
      if (rank == request.rank) builder.receive(request.root, 0, own, bytes, {});
    } else if (rank == request.root) {
      builder.copy(own, place, bytes, {});
    } else {
      builder.send(rank, 0, place, bytes, {});
    }
  });
  return builder.take();
}

}  // namespace isthmus
