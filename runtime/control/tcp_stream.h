// TcpStream: a control stream over one connected, or connecting, TCP socket.
//
// Threads: one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/control/control_stream.h"
#include "runtime/control/stream_framing.h"

namespace isthmus {

// What a stream keeps for a peer that takes nothing, before it gives up.
inline constexpr std::size_t kMaxQueuedControlBytes = 64 * 1024 * 1024;

class TcpStream final : public ControlStream {
 public:
  // Of an accepted socket, or of one whose connect() is under way to `remote`.
  TcpStream(Fd socket, const SocketAddress& remote, bool connecting);

  Status send(std::string_view message) override;
  Result<bool> flush() override;
  Result<bool> receive(std::string* message) override;
  int fd() const override { return socket_.get(); }
  std::string description() const override;

 private:
  Result<bool> finish_connect();
  Status write_some();
  // Reads until nothing is left, the limit of one call, or the end, which it latches in ended_.
  void read_some();
  Status fail(Status status);

  Fd socket_;
  SocketAddress remote_;
  StreamFraming framing_;
  bool connecting_;
  Status ended_;   // what receive() returns once the whole messages before it are taken
  Status failed_;  // what every call returns
};

}  // namespace isthmus
