#include "runtime/transport/libfabric/lane.h"

#include <type_traits>

namespace isthmus {

// A completion carries the address of `context`, which is the address of the operation.
static_assert(std::is_standard_layout_v<LibfabricOp> && offsetof(LibfabricOp, context) == 0);

LibfabricOp* LibfabricOpPool::take() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<LibfabricOp[]>(kBlock));
    for (std::size_t i = 0; i < kBlock; ++i) give_back(&blocks_.back()[i]);
  }
  LibfabricOp* op = free_;
  free_ = op->next;
  return op;
}

void LibfabricOpPool::give_back(LibfabricOp* op) {
  op->next = free_;
  free_ = op;
}

void LibfabricLane::link(LibfabricOp* op) {
  op->lane = this;
  op->previous = last;
  op->next = nullptr;
  (last != nullptr ? last->next : first) = op;
  last = op;
  ++(op->is_send ? open_sends : open_receives);
}

void LibfabricLane::unlink(LibfabricOp* op) {
  (op->previous != nullptr ? op->previous->next : first) = op->next;
  (op->next != nullptr ? op->next->previous : last) = op->previous;
  --(op->is_send ? open_sends : open_receives);
}

std::string LibfabricLane::describe() const {
  return local_address.empty() ? fmt::format("lane to {}", remote_address)
                               : fmt::format("lane {} -> {}", local_address, remote_address);
}

}  // namespace isthmus
