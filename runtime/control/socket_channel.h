// SocketChannel: bytes over one connected, or connecting, TCP socket.
//
// Threads: one thread at a time.
//
// The kernel gives a connection up, instead of sending again for a quarter of an hour, once the peer's has acknowledged
// nothing for kSilenceLimit. Faster answers than that are the business of heartbeats.
#pragma once

#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"
#include "runtime/control/byte_channel.h"

namespace isthmus {

class SocketChannel final : public ByteChannel {
 public:
  static constexpr std::chrono::seconds kSilenceLimit{45};

  // Of an accepted socket, or of one whose connect() is under way to `remote`; it is non-blocking and close-on-exec.
  SocketChannel(Fd socket, const SocketAddress& remote, bool connecting);

  Result<bool> stand() override;
  Result<std::size_t> write(std::string_view bytes) override;
  Result<std::size_t> read(char* to, std::size_t size) override;
  bool wants_write() const override { return wants_write_; }
  int fd() const override { return socket_.get(); }
  std::string description() const override;
  Result<Key> export_secret(std::string_view label, std::string_view context) override;

  // No more bytes follow; the peer may still send.
  void end_writing();

 private:
  Fd socket_;
  SocketAddress remote_;
  bool connecting_;
  bool wants_write_ = false;
};

}  // namespace isthmus
