#include "runtime/link/inbound.h"

#include <algorithm>
#include <cstring>

namespace isthmus {

void Inbound::open(const OperationKey& key, std::string_view descriptor, ChannelOperation* operation) {
  Operation& state = operations_[key];
  const std::string theirs = std::move(state.descriptor);
  state.handler = operation;
  state.descriptor = descriptor;
  early_total_bytes_ -= state.early_bytes;  // from here on it is covered by credit
  state.early_bytes = 0;
  std::string stray;
  if (key.tag == 0) {
    History& history = histories_[key.communicator];
    history.last_opened = std::max(history.last_opened, key.sequence);
    stray = history.stray;
  }
  if (!theirs.empty() && theirs != state.descriptor) return operation->on_mismatch(theirs);
  if (!stray.empty()) operation->on_stray(stray);
}

// Every collective that uses this channel is opened in order, so one that was, and is not there, has ended.
bool Inbound::has_ended(const OperationKey& key) const {
  if (key.tag != 0 || operations_.contains(key)) return false;
  const auto history = histories_.find(key.communicator);
  return history != histories_.end() && key.sequence <= history->second.last_opened;
}

void Inbound::on_stray(const Frame& frame) {
  if (frame.descriptor.empty()) return;  // it came with an earlier segment
  histories_[frame.header.operation.communicator].stray = frame.descriptor;
  for (auto& [key, operation] : operations_) {
    if (key.communicator != frame.header.operation.communicator || operation.handler == nullptr) continue;
    return operation.handler->on_stray(frame.descriptor);
  }
}

void Inbound::receive(const OperationKey& key, std::uint32_t round, MutableBytes target, std::uint32_t step) {
  const auto found = operations_.find(key);
  if (found == operations_.end()) return;
  Operation& operation = found->second;
  if (operation.transfers.size() <= round) operation.transfers.resize(round + 1);
  Transfer& transfer = operation.transfers[round];
  transfer.target = target.data();
  transfer.target_bytes = target.size();
  transfer.step = step;
  transfer.posted = true;
  if (!operation.early.empty()) replay(key, round);
}

// Hands over what came early for this round. A handler may close the operation, so it is looked up anew each time.
void Inbound::replay(const OperationKey& key, std::uint32_t round) {
  for (;;) {
    const auto found = operations_.find(key);
    if (found == operations_.end()) return;
    auto& early = found->second.early;
    const auto next = std::find_if(early.begin(), early.end(), [&](const auto& s) { return s.round == round; });
    if (next == early.end()) return;
    const EarlySegment segment = std::move(*next);
    early.erase(next);
    if (!deliver(found->second, segment.round, segment.offset, segment.transfer_bytes, as_bytes(segment.payload)))
      return;
  }
}

void Inbound::close(const OperationKey& key) {
  const auto found = operations_.find(key);
  if (found == operations_.end()) return;
  early_total_bytes_ -= found->second.early_bytes;
  operations_.erase(found);
}

void Inbound::forget(std::uint64_t communicator) {
  forgotten_.insert(communicator);
  histories_.erase(communicator);
  for (auto it = operations_.begin(); it != operations_.end();) {
    if (it->first.communicator == communicator) {
      early_total_bytes_ -= it->second.early_bytes;
      it = operations_.erase(it);
    } else {
      ++it;
    }
  }
}

Status Inbound::on_data(const Frame& frame) {
  const FrameHeader& h = frame.header;
  if (forgotten_.contains(h.operation.communicator)) return Status();
  if (has_ended(h.operation)) {
    on_stray(frame);
    return Status();
  }
  Operation& operation = operations_[h.operation];
  const bool is_open = operation.handler != nullptr;
  if (is_open) {
    operation.handler->on_advance();
    if (!frame.descriptor.empty() && frame.descriptor != operation.descriptor) {
      operation.handler->on_mismatch(frame.descriptor);
      return Status();
    }
    if (h.round < operation.transfers.size() && operation.transfers[h.round].posted) {
      deliver(operation, h.round, h.offset, h.transfer_bytes, frame.payload);
      return Status();
    }
  }
  return keep_early(operation, frame, is_open);
}

Status Inbound::keep_early(Operation& operation, const Frame& frame, bool is_open) {
  const FrameHeader& h = frame.header;
  if (!is_open) {
    const std::uint64_t cost = frame.payload.size() + kEagerSegmentBytes;
    operation.early_bytes += cost;
    early_total_bytes_ += cost;
    // The sender stops when an account is full, so its last segment may overdraw by the fixed part.
    if (operation.early_bytes > limits_.per_operation_bytes + kEagerSegmentBytes ||
        early_total_bytes_ > limits_.total_bytes + kEagerSegmentBytes)
      return corruption("peer sent {} bytes of operation {} without credit ({} in all); the limit is {} ({})",
                        operation.early_bytes, h.operation.sequence, early_total_bytes_, limits_.per_operation_bytes,
                        limits_.total_bytes);
    if (!frame.descriptor.empty()) operation.descriptor = frame.descriptor;
  }
  operation.early.push_back({h.round, h.offset, h.transfer_bytes, std::string(as_text(frame.payload))});
  return Status();
}

bool Inbound::deliver(Operation& operation, std::uint32_t round, std::uint64_t offset, std::uint64_t transfer_bytes,
                      ConstBytes payload) {
  Transfer& transfer = operation.transfers[round];
  if (transfer.done || transfer_bytes != transfer.target_bytes) {  // never write outside a target
    operation.handler->on_wrong_size(transfer.step, transfer_bytes);
    return false;
  }
  if (!payload.empty()) std::memcpy(transfer.target + offset, payload.data(), payload.size());
  transfer.received_bytes += payload.size();
  if (transfer.received_bytes < transfer.target_bytes) return true;
  transfer.done = true;
  operation.handler->on_received(transfer.step);
  return true;
}

}  // namespace isthmus
