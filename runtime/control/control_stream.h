// ControlStream: an ordered, reliable stream of small messages between two processes (heartbeats, goodbyes, aborts,
// rendezvous requests), and the listener that accepts them. Three makes: TLS, plain TCP, and an in-memory twin for
// worlds of threads. Authentication lies behind this interface: a stream of a secured network stands only once both
// sides have shown that they have the job's secret, and nothing above it sees a stranger.
//
// Threads: one thread at a time per object. No call blocks; the owner polls fd() and calls receive() and flush().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/security/key_derivation.h"

namespace isthmus {

inline constexpr std::size_t kMaxControlMessageBytes = 16 * 1024 * 1024;

class ControlStream {
 public:
  // Closes at once. While the peer is sending, its kernel may then drop what it got last (a reset does that): whoever
  // needs the last message to arrive waits for an acknowledgement first.
  virtual ~ControlStream() = default;

  // Puts one message on the stream: what the kernel does not take now is kept and goes out in flush().
  // unavailable: the stream is closed. invalid_argument: longer than kMaxControlMessageBytes.
  virtual Status send(std::string_view message) = 0;

  // Sends what is kept. Returns whether nothing is left.
  virtual Result<bool> flush() = 0;

  // True: one whole message was taken into `*message`. False: none yet. unavailable: the peer closed or reset the
  // stream; corruption: bytes that are not ours (a stray scanner) - both are final.
  virtual Result<bool> receive(std::string* message) = 0;

  virtual int fd() const = 0;  // poll for reading always, for writing while wants_write()
  // After flush() returned false. It may return false without this: a handshake waits for the peer.
  virtual bool wants_write() const = 0;

  // A key that both ends of this connection, and nobody else, compute from `label` and `context`. Only once it stands.
  // unsupported: the stream is plain.
  virtual Result<Key> export_secret(std::string_view label, std::string_view context) = 0;

  // "10.77.0.1:40000 -> 10.77.1.1:51234", for messages.
  virtual std::string description() const = 0;
};

class ControlListener {
 public:
  virtual ~ControlListener() = default;
  // The next stream, or nullptr when none waits.
  virtual Result<std::unique_ptr<ControlStream>> accept() = 0;
  virtual int fd() const = 0;
  virtual const std::string& address() const = 0;  // what a peer gives to ControlNetwork::connect
};

// The make: where streams come from.
class ControlNetwork {
 public:
  virtual ~ControlNetwork() = default;
  // Options as for a transport's listener (numeric host, port range, advertised host).
  virtual Result<std::unique_ptr<ControlListener>> listen(const std::string& host, const std::string& advertised_host,
                                                          std::uint16_t port_low, std::uint16_t port_high) = 0;
  // Begins a stream without waiting for it: flush() returns false until it stands, then true. Errors of flush() and
  // receive() until then: unavailable (nobody listens there), deadline_exceeded (nobody answers), or what does not get
  // better by waiting: invalid_argument (authentication failed), unsupported, corruption. May be called from any
  // thread.
  virtual Result<std::unique_ptr<ControlStream>> dial(const std::string& address) = 0;

  // dial(), and waits until the stream stands, or the deadline.
  Result<std::unique_ptr<ControlStream>> connect(const std::string& address, TimePoint deadline);
};

// Blocking helpers for code that owns its thread (clients of the rendezvous server).
Status send_message(ControlStream& stream, std::string_view message, TimePoint deadline);
Result<std::string> receive_message(ControlStream& stream, TimePoint deadline);

}  // namespace isthmus
