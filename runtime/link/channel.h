// Channel: how one process moves the payload of operations to and from one other process. A link is a channel across
// the WAN; the site's shared memory is a channel between mates (collectives/local/shm). Schedules see no difference.
//
// Threads: the progress thread of the runtime. Nothing blocks.
//
// Matching. A transfer is the payload of one kSend step and its kReceive step; it is named by the operation (its
// communicator, sequence and tag) and a round that is unique per direction within the operation. Data may arrive before
// the operation is opened here: up to an eager window per operation is kept, beyond that the sender waits for the
// credit that open() grants, so no operation can hold another. An operation's descriptor goes with its first segment
// and with its credit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/link/call_listener.h"

namespace isthmus {

// Names one operation on every rank of a communicator.
struct OperationKey {
  std::uint64_t communicator = 0;
  std::uint64_t sequence = 0;  // collectives: per communicator. Point to point: per direction of a pair and tag
  std::uint32_t tag = 0;       // 0: a collective. Else point to point, user tag + 1
  std::uint32_t pair = 0;      // point to point: who sends to whom, see point_to_point_pair
  auto operator<=>(const OperationKey&) const = default;
};

// Each direction of a pair of ranks counts its own messages. Ranks are below kMaxPointToPointRanks.
inline constexpr std::uint32_t kMaxPointToPointRanks = 1u << 16;
constexpr std::uint32_t point_to_point_pair(std::uint32_t sender, std::uint32_t receiver) {
  return sender * kMaxPointToPointRanks + receiver;
}

struct OperationKeyHash {
  std::size_t operator()(const OperationKey& key) const {
    std::uint64_t h = key.communicator * 0x9e3779b97f4a7c15u ^ key.sequence;
    h = h * 0xff51afd7ed558ccdu ^ (std::uint64_t{key.tag} << 32 | key.pair);
    return h ^ (h >> 29);
  }
};

// Told what happened to an operation's transfers; called from within Channel calls and progress.
class ChannelOperation {
 public:
  virtual ~ChannelOperation() = default;
  virtual void on_sent(std::uint32_t step) = 0;      // the source may be overwritten; the peer may not have it yet
  virtual void on_received(std::uint32_t step) = 0;  // the target holds the whole transfer
  virtual void on_advance() = 0;                     // payload moved: the operation's timeout starts anew
  // The peer's descriptor of the same operation differs from ours.
  virtual void on_mismatch(std::string_view theirs) = 0;
  // The transfer that this receive step waits for has another size than its target. Nothing of it is written.
  virtual void on_wrong_size(std::uint32_t step, std::uint64_t transfer_bytes) = 0;
  // Which operations' segments go first: the higher the earlier.
  virtual int priority() const { return 0; }
};

class Channel {
 public:
  virtual ~Channel() = default;

  // The operation exists here from now on: grants the peer credit for `receive_bytes` and takes up what came early.
  // `descriptor` (at most kMaxDescriptorBytes) travels with the first segment; `operation` lives until close().
  virtual void open(const OperationKey& key, std::string_view descriptor, std::uint64_t receive_bytes,
                    ChannelOperation* operation) = 0;

  // open() of this collective is still to come, though later ones are opened before it. Without this, collectives are
  // opened in the order of their sequence, and data of one that was passed over is dropped.
  virtual void expect(const OperationKey& key) = 0;

  // Between open() and close(). The buffers stay valid until on_sent / on_received with this step, or close().
  // An empty buffer is a transfer too: it carries the order.
  virtual void send(const OperationKey& key, std::uint32_t round, ConstBytes source, std::uint32_t step) = 0;
  virtual void receive(const OperationKey& key, std::uint32_t round, MutableBytes target, std::uint32_t step) = 0;

  // No call to the operation follows. What was reported as sent still reaches the peer.
  virtual void close(const OperationKey& key) = 0;

  // Instead of close(), for a message that is not what was expected: what comes of it is dropped, and its sender may
  // send all of it, so that it is not held up.
  virtual void refuse(const OperationKey& key) = 0;

  // Data of a message that is not open here has come: a number that grows in the order of first arrival, process wide.
  // 0: nothing has come.
  virtual std::uint64_t arrival(const OperationKey& key) const = 0;

  // From now on `listener` hears of the collectives that the peer, `rank` in the communicator, calls; until forget().
  virtual void watch(std::uint64_t communicator, std::uint32_t rank, CallListener* listener) = 0;

  // Drops what came early for the communicator and whatever still comes: it is destroyed or broken.
  virtual void forget(std::uint64_t communicator) = 0;

  // Not ok once the channel has failed for good: the reason.
  virtual Status status() const = 0;

  // Whether everything sent was acknowledged by the peer (or copied out of shared memory).
  virtual bool drained() const = 0;
};

inline constexpr std::size_t kMaxDescriptorBytes = 64;

}  // namespace isthmus
