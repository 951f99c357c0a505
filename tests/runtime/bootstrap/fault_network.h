// FaultNetwork: control streams over TLS on loopback, with faults: silence (what is sent is lost, and a connection that
// saw it stays stalled, as TCP does for seconds after a cut) and resets.
//
// Threads: FaultNetwork, any thread; its streams, as those that it wraps.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/control/tls_control.h"

namespace isthmus::testing {

struct Faults {
  std::atomic<bool> silent{false};
  std::mutex mutex;
  std::set<int> sockets;
};

class FaultStream final : public ControlStream {
 public:
  FaultStream(std::shared_ptr<Faults> faults, std::unique_ptr<ControlStream> stream)
      : faults_(std::move(faults)), stream_(std::move(stream)) {
    const std::lock_guard lock(faults_->mutex);
    faults_->sockets.insert(stream_->fd());
  }
  ~FaultStream() override {
    const std::lock_guard lock(faults_->mutex);
    faults_->sockets.erase(stream_->fd());
    stream_.reset();
  }

  Status send(std::string_view message) override { return stalled() ? Status() : stream_->send(message); }
  Result<bool> flush() override {
    if (!stalled()) {
      Result<bool> done = stream_->flush();
      stands_ = stands_ || (done.ok() && *done);
      return done;
    }
    return stands_;
  }
  Result<bool> receive(std::string* message) override {
    Result<bool> received = stream_->receive(message);
    if (received.ok() && stalled()) return false;
    return received;
  }
  bool wants_write() const override { return !stalled_ && stream_->wants_write(); }
  int fd() const override { return stream_->fd(); }
  std::string description() const override { return stream_->description(); }
  Result<Key> export_secret(std::string_view label, std::string_view context) override {
    return stream_->export_secret(label, context);
  }

 private:
  bool stalled() {
    stalled_ = stalled_ || faults_->silent.load();
    return stalled_;
  }

  const std::shared_ptr<Faults> faults_;
  std::unique_ptr<ControlStream> stream_;
  bool stalled_ = false, stands_ = false;
};

class FaultListener final : public ControlListener {
 public:
  FaultListener(std::shared_ptr<Faults> faults, std::unique_ptr<ControlListener> listener)
      : faults_(std::move(faults)), listener_(std::move(listener)) {}
  Result<std::unique_ptr<ControlStream>> accept() override {
    ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ControlStream> stream, listener_->accept());
    if (stream == nullptr) return stream;
    return std::unique_ptr<ControlStream>(std::make_unique<FaultStream>(faults_, std::move(stream)));
  }
  int fd() const override { return listener_->fd(); }
  const std::string& address() const override { return listener_->address(); }

 private:
  const std::shared_ptr<Faults> faults_;
  std::unique_ptr<ControlListener> listener_;
};

class FaultNetwork final : public ControlNetwork {
 public:
  FaultNetwork() : network_(TlsControlNetwork::create(JobSecret::generate().value(), CipherKind::kAes256Gcm).value()) {}

  Result<std::unique_ptr<ControlListener>> listen(const std::string& host, const std::string& advertised_host,
                                                  std::uint16_t port_low, std::uint16_t port_high) override {
    ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ControlListener> listener,
                             network_->listen(host, advertised_host, port_low, port_high));
    return std::unique_ptr<ControlListener>(std::make_unique<FaultListener>(faults_, std::move(listener)));
  }
  Result<std::unique_ptr<ControlStream>> dial(const std::string& address) override {
    ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ControlStream> stream, network_->dial(address));
    return std::unique_ptr<ControlStream>(std::make_unique<FaultStream>(faults_, std::move(stream)));
  }

  void silence(bool silent) { faults_->silent = silent; }
  // Both ends of every connection see its end.
  void reset_all() {
    const std::lock_guard lock(faults_->mutex);
    for (const int socket : faults_->sockets) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  const std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
  const std::unique_ptr<TlsControlNetwork> network_;
};

}  // namespace isthmus::testing
