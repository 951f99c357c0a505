// TlsListener: accepts TCP connections, does their handshakes, and hands out those of peers that have the job's secret.
//
// Threads: one thread at a time.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/log_throttle.h"
#include "runtime/control/control_stream.h"
#include "runtime/control/poller.h"
#include "runtime/control/tcp_socket.h"
#include "runtime/control/tls_channel.h"

namespace isthmus {

struct HandshakeLimits {
  std::size_t count = 64;  // connections at once that have not shown the secret; the oldest makes room
  Duration time = std::chrono::seconds(5);
};

class TlsListener final : public ControlListener {
 public:
  static Result<std::unique_ptr<TlsListener>> create(std::shared_ptr<const TlsContext> context, BoundSocket bound,
                                                     const HandshakeLimits& limits);

  Result<std::unique_ptr<ControlStream>> accept() override;
  int fd() const override { return poller_.fd(); }
  const std::string& address() const override { return bound_.address; }

 private:
  struct Handshake {
    std::uint64_t key = 0;
    TimePoint due;
    std::unique_ptr<TlsChannel> channel;
    bool wants_write = false;
    bool failed = false;  // the peer still gets the alert, so what it sends is read and dropped
  };
  using Entry = std::list<Handshake>::iterator;

  TlsListener(std::shared_ptr<const TlsContext> context, BoundSocket bound, const HandshakeLimits& limits)
      : context_(std::move(context)), limits_(limits), bound_(std::move(bound)) {}
  Status watch();

  Status take_new();
  void advance(Entry entry);
  void drop_input(Entry entry);
  void fail(Entry entry, const Status& why);
  void end(Entry entry);
  void end_late();
  void set_timer();

  const std::shared_ptr<const TlsContext> context_;
  const HandshakeLimits limits_;
  BoundSocket bound_;
  Poller poller_;
  Fd timer_;
  std::list<Handshake> handshakes_;  // oldest first
  std::vector<std::unique_ptr<ControlStream>> ready_;
  std::vector<std::uint64_t> keys_;
  std::uint64_t next_key_ = 2;
  LogThrottle refusals_;
};

}  // namespace isthmus
