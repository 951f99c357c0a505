// Outbound: the sending half of a channel. Cuts transfers into segments, in the order that SendOrder says, and holds
// back an operation that has neither credit nor eager window left, without holding back the ones behind it.
//
// Threads: the progress thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/link/channel.h"
#include "runtime/link/frame.h"
#include "runtime/link/inbound.h"
#include "runtime/link/send_order.h"

namespace isthmus {

// The next thing to put on a lane.
struct OutboundSegment {
  FrameHeader header;           // all but session, epoch, key generation and segment number
  std::string_view descriptor;  // valid until the next call of Outbound
  ConstBytes payload;           // the caller's memory: copy (seal) it before segment_taken()
};

class Outbound {
 public:
  explicit Outbound(EagerLimits limits) : limits_(limits), eager_bytes_(limits.per_operation_bytes) {}

  // `receive_bytes` > 0 also queues the credit for the peer; an operation that receives anything must give it.
  void open(const OperationKey& key, std::string_view descriptor, std::uint64_t receive_bytes,
            ChannelOperation* operation);
  void send(const OperationKey& key, std::uint32_t round, ConstBytes source, std::uint32_t step);
  // Queues credit for whatever the peer sends of a message.
  void grant_all(const OperationKey& key);
  void close(const OperationKey& key);
  void forget(std::uint64_t communicator);
  void on_credit(const OperationKey& key, std::uint64_t granted_bytes);

  // Of what the peer takes in before it has opened an operation, use only so much per operation.
  void limit_eager(std::uint64_t bytes) { eager_bytes_ = bytes; }

  // Fills `segment` with at most `max_payload_bytes`. False: nothing may be sent now.
  bool next(std::size_t max_payload_bytes, OutboundSegment* segment);

  // The segment that next() returned was copied: moves on, and reports on_sent when it was the last of its transfer.
  void segment_taken();

  bool has_credits() const { return !credits_.empty(); }
  bool empty() const { return credits_.empty() && queued_transfers_ == 0; }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Transfer {
    std::uint32_t round, step;
    ConstBytes source;
    std::uint64_t sent_bytes = 0;
  };
  struct Operation {
    OperationKey key;
    ChannelOperation* handler = nullptr;  // nullptr: closed here, kept until the peer's credit settles the account
    std::string descriptor;
    bool descriptor_sent = false;
    std::vector<Transfer> transfers;  // [head, size) wait
    std::size_t head = 0;
    std::uint64_t sent_bytes = 0, granted_bytes = 0, uncredited_bytes = 0;
    bool credited = false;
    bool waits() const { return head < transfers.size(); }
    const Transfer& next() const { return transfers[head]; }
  };
  struct Credit {
    OperationKey key;
    std::uint64_t bytes;
    std::string descriptor;
  };

  std::uint64_t allowance(const Operation& operation) const;
  bool may_send(const Operation& operation) const;
  void erase(Operation* operation);
  Operation& find_or_add(const OperationKey& key);

  EagerLimits limits_;
  std::uint64_t eager_bytes_;
  std::unordered_map<OperationKey, std::unique_ptr<Operation>, OperationKeyHash> operations_;
  SendOrder order_;
  std::vector<Credit> credits_;  // to be sent
  std::unordered_set<std::uint64_t> forgotten_;
  std::uint64_t uncredited_total_bytes_ = 0;
  std::size_t queued_transfers_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  Operation* taken_from_ = nullptr;  // of the last next(); nullptr: a credit
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace isthmus
