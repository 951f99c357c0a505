// TlsChannel: bytes over TLS over one TCP socket. It stands once both sides have shown that they have the job's secret.
//
// Threads: one thread at a time.
//
// A stranger costs a socket, OpenSSL's state of one connection and at most kMaxHandshakeBytes of input; whoever accepts
// sees to their number and to the time.
#pragma once

#include <memory>
#include <string>

#include "runtime/control/socket_channel.h"
#include "runtime/control/tls_context.h"

namespace isthmus {

class TlsChannel final : public ByteChannel {
 public:
  static constexpr std::size_t kMaxHandshakeBytes = 16 * 1024;

  static Result<std::unique_ptr<TlsChannel>> create(std::shared_ptr<const TlsContext> context, TlsContext::Role role,
                                                    std::unique_ptr<SocketChannel> socket);
  ~TlsChannel() override;

  // invalid_argument: authentication failed: the other side has another secret, or none. corruption: it is no Isthmus
  // process. deadline_exceeded: it went away meanwhile. The other side is told that it failed, and nothing else.
  Result<bool> stand() override;
  Result<std::size_t> write(std::string_view bytes) override;
  Result<std::size_t> read(char* to, std::size_t size) override;
  bool wants_write() const override { return socket_->wants_write(); }
  int fd() const override { return socket_->fd(); }
  std::string description() const override { return socket_->description(); }
  Result<Key> export_secret(std::string_view label, std::string_view context) override;

  SocketChannel& socket() { return *socket_; }

 private:
  friend struct TlsBio;
  TlsChannel(std::shared_ptr<const TlsContext> context, TlsContext::Role role, std::unique_ptr<SocketChannel> socket)
      : context_(std::move(context)), role_(role), socket_(std::move(socket)) {}

  // What a call of OpenSSL that returned `result` means: ok, it waits for the socket.
  Status outcome(int result);
  Status handshake_failure(const Status& why);

  const std::shared_ptr<const TlsContext> context_;
  const TlsContext::Role role_;
  const std::unique_ptr<SocketChannel> socket_;
  ssl_st* connection_ = nullptr;
  bool stands_ = false;
  char first_byte_ = 0;
  std::size_t received_bytes_ = 0;  // while it does not stand
  Status socket_error_;
};

}  // namespace isthmus
