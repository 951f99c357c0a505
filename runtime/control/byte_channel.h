// ByteChannel: bytes in order between two processes, below the framing of messages: a TCP socket, or TLS over one.
//
// Threads: one thread at a time. No call blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/security/key_derivation.h"

namespace isthmus {

class ByteChannel {
 public:
  virtual ~ByteChannel() = default;  // closes at once

  // Goes on with what must happen before bytes flow: connecting, a handshake. True: they may. An error is final.
  virtual Result<bool> stand() = 0;

  // How many bytes were taken, or put into `to`; 0: none now. unavailable: the peer has gone; corruption: what came is
  // not what was sent. Only once it stands.
  virtual Result<std::size_t> write(std::string_view bytes) = 0;
  virtual Result<std::size_t> read(char* to, std::size_t size) = 0;

  // Whether the last call that did not get on waits for the descriptor to be writable.
  virtual bool wants_write() const = 0;
  virtual int fd() const = 0;
  virtual std::string description() const = 0;

  // As ControlStream::export_secret().
  virtual Result<Key> export_secret(std::string_view label, std::string_view context) = 0;
};

}  // namespace isthmus
