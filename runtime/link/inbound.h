// Inbound: the receiving half of a channel. Puts segments, in whatever order they come, where their receive step wants
// them, and keeps what comes before its operation is opened or its receive is posted.
//
// Threads: the progress thread. Memory: eager bytes per operation that is not open, eager_total_bytes in all; a peer
// that sends more than that without credit breaks the protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/link/call_listener.h"
#include "runtime/link/channel.h"
#include "runtime/link/frame.h"

namespace isthmus {

// What may be sent of operations that the peer has not opened, per channel and direction. Each segment is charged its
// payload and kEagerSegmentBytes, on both sides alike, so that empty segments are bounded too.
struct EagerLimits {
  std::uint64_t per_operation_bytes = 8 * 1024 * 1024;
  std::uint64_t total_bytes = 4 * per_operation_bytes;
};
inline constexpr std::uint64_t kEagerSegmentBytes = 64;

class Inbound {
 public:
  explicit Inbound(EagerLimits limits) : limits_(limits) {}

  void open(const OperationKey& key, std::string_view descriptor, ChannelOperation* operation);
  void expect(const OperationKey& key) { operations_.try_emplace(key); }
  void receive(const OperationKey& key, std::uint32_t round, MutableBytes target, std::uint32_t step);
  void close(const OperationKey& key);
  // See Channel.
  void refuse(const OperationKey& key);
  std::uint64_t arrival(const OperationKey& key) const;
  void watch(std::uint64_t communicator, std::uint32_t rank, CallListener* listener);
  void forget(std::uint64_t communicator);

  // The peer's description of an operation, as it comes with a credit.
  void on_descriptor(const OperationKey& key, std::string_view descriptor);

  // One kData frame, each exactly once. corruption: the peer broke the protocol and the channel is of no more use.
  Status on_data(const Frame& frame);

 private:
  struct EarlySegment {
    std::uint32_t round;
    std::uint64_t offset, transfer_bytes;
    std::string payload;
  };
  struct Transfer {
    std::byte* target = nullptr;
    std::uint64_t target_bytes = 0, received_bytes = 0;
    std::uint32_t step = 0;
    bool posted = false, done = false;
  };
  struct Operation {
    ChannelOperation* handler = nullptr;  // nullptr: not open yet
    std::string descriptor;               // ours when open, else the peer's
    std::vector<Transfer> transfers;      // by round
    std::vector<EarlySegment> early;
    std::uint64_t early_bytes = 0;
    std::uint64_t arrival = 0;
  };

  Status keep_early(Operation& operation, const Frame& frame, bool is_open);
  // Returns false when the operation was closed by its handler meanwhile.
  bool deliver(Operation& operation, std::uint32_t round, std::uint64_t offset, std::uint64_t transfer_bytes,
               ConstBytes payload);
  void replay(const OperationKey& key, std::uint32_t round);

  bool has_ended(const OperationKey& key) const;

  struct Watch {
    std::uint32_t rank = 0;
    CallListener* listener = nullptr;
  };
  struct HeardCall {
    OperationKey key;
    std::string descriptor;
  };

  EagerLimits limits_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_opened_;  // collective, by communicator
  std::unordered_map<std::uint64_t, Watch> watches_;              // by communicator
  std::vector<HeardCall> unwatched_;                              // of communicators that are not known here yet
  std::unordered_set<OperationKey, OperationKeyHash> refused_;
  std::unordered_map<OperationKey, Operation, OperationKeyHash> operations_;
  std::unordered_set<std::uint64_t> forgotten_;
  std::uint64_t early_total_bytes_ = 0;
};

}  // namespace isthmus
