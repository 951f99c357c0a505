#include "runtime/link/inbound.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace isthmus {
namespace {

// Calls of communicators that are not known here yet; more are not compared.
constexpr std::size_t kMaxUnwatchedCalls = 256;

std::uint64_t next_arrival() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

void Inbound::open(const OperationKey& key, std::string_view descriptor, ChannelOperation* operation) {
  Operation& state = operations_[key];
  const std::string theirs = std::move(state.descriptor);
  state.handler = operation;
  state.descriptor = descriptor;
  early_total_bytes_ -= state.early_bytes;  // from here on it is covered by credit
  state.early_bytes = 0;
  if (key.tag == 0) {
    std::uint64_t& last = last_opened_[key.communicator];
    last = std::max(last, key.sequence);
  }
  if (!theirs.empty() && theirs != state.descriptor) operation->on_mismatch(theirs);
}

// Every collective that uses this channel is opened in order or expected, so one that was passed and is not there has
// ended.
bool Inbound::has_ended(const OperationKey& key) const {
  if (key.tag != 0 || operations_.contains(key)) return false;
  const auto last = last_opened_.find(key.communicator);
  return last != last_opened_.end() && key.sequence <= last->second;
}

void Inbound::watch(std::uint64_t communicator, std::uint32_t rank, CallListener* listener) {
  watches_[communicator] = {rank, listener};
  for (const HeardCall& call : unwatched_)
    if (call.key.communicator == communicator) listener->on_call(rank, call.key.sequence, call.descriptor);
  std::erase_if(unwatched_, [&](const HeardCall& call) { return call.key.communicator == communicator; });
}

void Inbound::on_descriptor(const OperationKey& key, std::string_view descriptor) {
  if (descriptor.empty() || key.tag != 0 || forgotten_.contains(key.communicator)) return;
  const auto watch = watches_.find(key.communicator);
  if (watch != watches_.end())
    watch->second.listener->on_call(watch->second.rank, key.sequence, descriptor);
  else if (unwatched_.size() < kMaxUnwatchedCalls)
    unwatched_.push_back({key, std::string(descriptor)});
}

void Inbound::refuse(const OperationKey& key) {
  close(key);
  refused_.insert(key);
}

std::uint64_t Inbound::arrival(const OperationKey& key) const {
  const auto found = operations_.find(key);
  return found == operations_.end() || found->second.handler != nullptr ? 0 : found->second.arrival;
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
  last_opened_.erase(communicator);
  watches_.erase(communicator);
  std::erase_if(unwatched_, [&](const HeardCall& call) { return call.key.communicator == communicator; });
  std::erase_if(refused_, [&](const OperationKey& key) { return key.communicator == communicator; });
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
  on_descriptor(h.operation, frame.descriptor);
  if (has_ended(h.operation) || refused_.contains(h.operation)) return Status();
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
    if (operation.arrival == 0) operation.arrival = next_arrival();
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
