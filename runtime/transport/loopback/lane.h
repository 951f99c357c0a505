// LoopbackWire: the connection whose two ends are lanes of two loopback transports.
//
// Each direction behaves as a socket does: a bounded buffer of copies, so that kSent comes before the peer has the
// message, and behind it sends that wait in their owner's memory until the buffer has room.
//
// Threads: any thread; the transports at the two ends call from their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/transport/loopback/mailbox.h"
#include "runtime/transport/ring_queue.h"
#include "runtime/transport/transport.h"

namespace isthmus {

// What a direction buffers; a longer message is buffered alone.
inline constexpr std::size_t kLoopbackBufferBytes = 1024 * 1024;

struct LoopbackEnd {
  std::shared_ptr<LoopbackMailbox> mailbox;
  LaneId lane = 0;
  std::string address;
};

class LoopbackWire {
 public:
  // Side 0 dialled, side 1 accepted.
  LoopbackWire(LoopbackEnd dialled, LoopbackEnd accepted) : ends_{std::move(dialled), std::move(accepted)} {}

  // False when the wire is down.
  bool send(int side, ConstBytes message, std::uint64_t token);
  bool receive(int side, MutableBytes buffer, std::uint64_t token);

  // Takes both lanes down unless they are: posted work comes back with `work` at `side`, whose kLaneDown says `reason`.
  // The other side gets `theirs` for both.
  void close(int side, const Status& work, const Status& reason, const Status& theirs);

  const LoopbackEnd& end(int side) const { return ends_[side]; }

 private:
  struct PostedSend {
    ConstBytes message;
    std::uint64_t token = 0;
  };
  struct PostedReceive {
    MutableBytes buffer;
    std::uint64_t token = 0;
  };
  using Copy = std::vector<std::byte>;
  struct Direction {
    RingQueue<Copy> copies;  // what the sender was told is sent, oldest first
    std::size_t copied_bytes = 0;
    RingQueue<PostedSend> sends;  // in their owner's memory, behind the copies
    RingQueue<PostedReceive> receives;
    std::vector<Copy> spare;  // memory of earlier copies
  };

  // All with mutex_ held. `from` is the sending side of a direction.
  void match(int from);
  bool take_into(int from, ConstBytes message);
  void buffer_sends(int from);
  void fail(int side, const Status& work, const Status& reason, const Status& theirs);
  void return_posted(int side, const Status& status);
  void post(int side, TransportEventKind kind, std::uint64_t token, std::size_t bytes, Status status);

  const std::array<LoopbackEnd, 2> ends_;
  std::mutex mutex_;
  std::array<Direction, 2> directions_;  // by sending side; guarded by mutex_
  bool down_ = false;                    // guarded by mutex_
};

}  // namespace isthmus
