// Transport: lanes between processes, and nothing else. A lane is one FIFO pipe of whole messages with a failure state
// of its own; which message belongs to which operation is written in the message by the layer above (runtime/link).
//
// Threads: one thread at a time (the progress thread of a runtime), but for wake-ups: a thread that sleeps on wait_fd()
// is woken by the transport. No call blocks. Calls return at once and outcomes arrive as events from progress().
//
// Every adapter (loopback, shaped, libfabric) passes tests/conformance/transport; that suite is the fine print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace isthmus {

// Names a lane within one transport for the transport's whole life; never 0, never used again.
using LaneId = std::uint64_t;

// Messages are at most this long on every adapter, and a greeting (see connect) at most kMaxGreetingBytes.
inline constexpr std::size_t kMaxMessageBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMaxGreetingBytes = 64;

struct TransportCapabilities {
  std::string name;             // "libfabric"
  std::string library_version;  // "1.17", empty where there is no library
  // A killed peer shows as kLaneDown without a deadline of ours, on lanes that have a receive posted: while a message
  // waits for one, an adapter need not look at the connection.
  bool reports_peer_death = false;
  bool has_backpressure = false;  // without posted receives a sender stops after a bounded number of bytes
};

struct ListenOptions {
  std::string host;             // numeric address to bind (IPv4 or IPv6); never a wildcard unless the user asked for it
  std::string advertised_host;  // what peers dial, where it differs (NAT); empty: `host`
  std::uint16_t port_low = 0;   // 0, 0: any free port; else the first free one of [low, high]
  std::uint16_t port_high = 0;
};

enum class PostResult {
  kAccepted,  // exactly one kSent or kReceived event with this token will follow
  kFull,      // no room until the lane's next event (kLaneUp for a lane that is not up yet, else a kSent or kReceived)
  kDown,      // the lane is down, or unknown
};

enum class TransportEventKind : std::uint8_t {
  kLaneUp,        // a lane that connect() opened carries messages from now on
  kLaneAccepted,  // a peer opened a lane to us; `greeting` is what it gave to connect(); the lane is up
  kLaneDown,      // last event of a lane, once; `status` says why (ok after our own close())
  kSent,          // the message buffer may be reused: it does NOT mean that the peer has it
  kReceived,      // `bytes` of the posted buffer were filled with one whole message
};

struct TransportEvent {
  TransportEventKind kind = TransportEventKind::kLaneDown;
  LaneId lane = 0;
  std::uint64_t token = 0;  // kSent, kReceived: as given to send() or receive()
  std::size_t bytes = 0;    // kReceived
  Status status;            // kSent, kReceived: not ok when the lane went down before; kLaneDown: the reason
  std::string greeting;     // kLaneAccepted
};

// For messages and for `isthmus info`; empty where the adapter has no such thing.
struct LaneInfo {
  std::string local_address;  // "10.77.0.1:40001"
  std::string remote_address;
  std::string congestion;  // TCP_CONGESTION read back from the lane's own socket
};

class Transport {
 public:
  virtual ~Transport() = default;  // closes every lane and listener; no event follows

  virtual const TransportCapabilities& capabilities() const = 0;

  // Accepts lanes at one more local address and returns what peers give to connect(): printable, at most 256 bytes.
  // unavailable: the address is not of this host, or no port of the range is free (the message names them).
  virtual Result<std::string> listen(const ListenOptions& options) = 0;

  // Opens a lane to an address that a peer's listen() returned. kLaneUp or kLaneDown follows. The greeting (at most
  // kMaxGreetingBytes) reaches the peer with its kLaneAccepted.
  // invalid_argument: not an address of this kind of transport.
  virtual Result<LaneId> connect(std::string_view address, std::string_view greeting) = 0;

  // Sends one message of 1..kMaxMessageBytes bytes. The buffer must stay untouched until its kSent.
  virtual PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) = 0;

  // Takes the next message of the lane into `buffer`; buffers are filled in the order in which they are posted. A
  // message longer than its buffer takes the lane down with `corruption`. Untouched until its kReceived.
  virtual PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) = 0;

  // Does what can be done now and fills `out` from the front; returns how many. 0 means that nothing is ready.
  virtual std::size_t progress(std::span<TransportEvent> out) = 0;

  // Readable when progress() may have something to do; valid for the transport's life. Before sleeping on it the
  // thread calls arm(): false means do not sleep, call progress() again.
  virtual int wait_fd() const = 0;
  virtual bool arm() = 0;

  // When progress() has work that no descriptor announces (a shaped message that falls due); kNever: no such work.
  virtual TimePoint next_due() const { return kNever; }

  // Takes the lane down: every posted buffer comes back (kSent or kReceived with `aborted`) and then kLaneDown, all
  // within the next calls of progress(); events that were ready before come first, kLaneUp among them. Messages already
  // accepted may or may not reach the peer. Unknown: no-op.
  virtual void close(LaneId lane) = 0;

  // Asks the lane's connection to send no faster than this, where it can (TCP's own pacing). A hint: without it a lane
  // that catches up after a stall may overrun the queue of its line.
  virtual void limit_rate(LaneId /*lane*/, double /*bytes_per_sec*/) {}

  // Packets that the lane's connection has sent again, where it can tell; else 0.
  virtual std::uint64_t retransmissions(LaneId /*lane*/) const { return 0; }

  virtual LaneInfo lane_info(LaneId lane) const = 0;
};

}  // namespace isthmus
