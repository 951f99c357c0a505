#include "runtime/link/outbound.h"

#include <algorithm>

namespace isthmus {

Outbound::Operation& Outbound::find_or_add(const OperationKey& key) {
  auto& slot = operations_[key];
  if (!slot) {
    slot = std::make_unique<Operation>();
    slot->key = key;
  }
  return *slot;
}

void Outbound::open(const OperationKey& key, std::string_view descriptor, std::uint64_t receive_bytes,
                    ChannelOperation* handler) {
  Operation& operation = find_or_add(key);  // credit may have come before
  operation.handler = handler;
  operation.descriptor = descriptor;
  order_.add(&operation, key.communicator, handler->priority());
  if (receive_bytes > 0) credits_.push_back({key, receive_bytes, operation.descriptor});
}

void Outbound::grant_all(const OperationKey& key) { credits_.push_back({key, UINT64_MAX / 2, {}}); }

void Outbound::send(const OperationKey& key, std::uint32_t round, ConstBytes source, std::uint32_t step) {
  const auto found = operations_.find(key);
  if (found == operations_.end() || found->second->handler == nullptr) return;
  found->second->transfers.push_back({round, step, source});
  ++queued_transfers_;
  waiting_bytes_ += source.size();
}

void Outbound::close(const OperationKey& key) {
  const auto found = operations_.find(key);
  if (found == operations_.end()) return;
  Operation* operation = found->second.get();
  queued_transfers_ -= operation->transfers.size() - operation->head;
  for (std::size_t i = operation->head; i < operation->transfers.size(); ++i)
    waiting_bytes_ -= operation->transfers[i].source.size() - operation->transfers[i].sent_bytes;
  operation->transfers.clear();
  operation->head = 0;
  operation->handler = nullptr;
  order_.remove(operation);
  if (taken_from_ == operation) taken_from_ = nullptr;
  // What was sent within the eager window weighs on the total until the peer's credit says that it was taken up.
  if (operation->uncredited_bytes == 0) operations_.erase(found);
}

void Outbound::forget(std::uint64_t communicator) {
  forgotten_.insert(communicator);
  std::erase_if(credits_, [&](const Credit& c) { return c.key.communicator == communicator; });
  std::vector<OperationKey> keys;
  for (const auto& [key, operation] : operations_)
    if (key.communicator == communicator) keys.push_back(key);
  for (const OperationKey& key : keys) {
    uncredited_total_bytes_ -= operations_[key]->uncredited_bytes;
    operations_[key]->uncredited_bytes = 0;
    close(key);
  }
}

void Outbound::on_credit(const OperationKey& key, std::uint64_t granted_bytes) {
  if (forgotten_.contains(key.communicator)) return;
  Operation& operation = find_or_add(key);
  operation.credited = true;
  operation.granted_bytes = std::max(operation.granted_bytes, granted_bytes);
  uncredited_total_bytes_ -= operation.uncredited_bytes;
  const bool settled = operation.uncredited_bytes > 0 && operation.handler == nullptr;
  operation.uncredited_bytes = 0;
  if (settled) operations_.erase(key);
}

std::uint64_t Outbound::allowance(const Operation& operation) const {
  if (operation.credited) return operation.granted_bytes - std::min(operation.granted_bytes, operation.sent_bytes);
  const std::uint64_t window = std::min(eager_bytes_, limits_.per_operation_bytes);
  const std::uint64_t own = window - std::min(window, operation.uncredited_bytes);
  const std::uint64_t all = limits_.total_bytes - std::min(limits_.total_bytes, uncredited_total_bytes_);
  return std::min(own, all);
}

bool Outbound::next(std::size_t max_payload_bytes, OutboundSegment* segment) {
  taken_from_ = nullptr;
  if (!credits_.empty()) {
    segment->header = FrameHeader();
    segment->header.type = FrameType::kCredit;
    segment->header.operation = credits_.front().key;
    segment->header.offset = credits_.front().bytes;
    segment->descriptor = credits_.front().descriptor;
    segment->header.descriptor_bytes = static_cast<std::uint8_t>(segment->descriptor.size());
    segment->payload = {};
    return true;
  }
  if (queued_transfers_ == 0) return false;
  auto* operation = static_cast<Operation*>(
      order_.pick([this](void* candidate) { return may_send(*static_cast<Operation*>(candidate)); }));
  if (operation == nullptr) return false;
  const Transfer& transfer = operation->next();
  const std::uint64_t left = transfer.source.size() - transfer.sent_bytes;
  const std::uint64_t bytes = std::min<std::uint64_t>({left, max_payload_bytes, allowance(*operation)});
  FrameHeader& h = segment->header = FrameHeader();
  h.type = FrameType::kData;
  h.operation = operation->key;
  h.round = transfer.round;
  h.offset = transfer.sent_bytes;
  h.transfer_bytes = transfer.source.size();
  h.raw_bytes = h.encoded_bytes = static_cast<std::uint32_t>(bytes);
  segment->descriptor = operation->descriptor_sent ? std::string_view() : operation->descriptor;
  h.descriptor_bytes = static_cast<std::uint8_t>(segment->descriptor.size());
  segment->payload = transfer.source.subspan(transfer.sent_bytes, bytes);
  taken_from_ = operation;
  taken_bytes_ = bytes;
  return true;
}

bool Outbound::may_send(const Operation& operation) const {
  if (!operation.waits()) return false;
  const bool has_payload = operation.next().sent_bytes < operation.next().source.size();
  return allowance(operation) > 0 || (!has_payload && operation.credited);
}

void Outbound::segment_taken() {
  if (taken_from_ == nullptr) {
    credits_.erase(credits_.begin());
    return;
  }
  Operation& operation = *taken_from_;
  taken_from_ = nullptr;
  order_.sent(&operation, taken_bytes_);
  operation.descriptor_sent = true;
  operation.sent_bytes += taken_bytes_;
  waiting_bytes_ -= taken_bytes_;
  if (!operation.credited) {
    operation.uncredited_bytes += taken_bytes_ + kEagerSegmentBytes;
    uncredited_total_bytes_ += taken_bytes_ + kEagerSegmentBytes;
  }
  Transfer& transfer = operation.transfers[operation.head];
  transfer.sent_bytes += taken_bytes_;
  ChannelOperation* const handler = operation.handler;
  handler->on_advance();
  if (transfer.sent_bytes < transfer.source.size()) return;
  const std::uint32_t step = transfer.step;
  ++operation.head;
  --queued_transfers_;
  if (operation.head == operation.transfers.size()) {
    operation.transfers.clear();
    operation.head = 0;
  }
  handler->on_sent(step);  // may close the operation
}

}  // namespace isthmus
