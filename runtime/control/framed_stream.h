// FramedStream: a control stream over a channel of bytes.
//
// Threads: one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "runtime/control/byte_channel.h"
#include "runtime/control/control_stream.h"
#include "runtime/control/stream_framing.h"

namespace isthmus {

// What a stream keeps for a peer that takes nothing, before it gives up.
inline constexpr std::size_t kMaxQueuedControlBytes = 64 * 1024 * 1024;

class FramedStream final : public ControlStream {
 public:
  explicit FramedStream(std::unique_ptr<ByteChannel> channel) : channel_(std::move(channel)) {}

  Status send(std::string_view message) override;
  Result<bool> flush() override;
  Result<bool> receive(std::string* message) override;
  bool wants_write() const override { return channel_->wants_write(); }
  int fd() const override { return channel_->fd(); }
  std::string description() const override { return channel_->description(); }
  Result<Key> export_secret(std::string_view label, std::string_view context) override {
    return channel_->export_secret(label, context);
  }

 private:
  Status write_some();
  // Reads until nothing is left, the limit of one call, or the end, which it latches in ended_.
  void read_some();
  Status fail(const Status& status);

  std::unique_ptr<ByteChannel> channel_;
  StreamFraming framing_;
  bool stands_ = false;
  Status ended_;   // what receive() returns once the whole messages before it are taken
  Status failed_;  // what every call returns
};

}  // namespace isthmus
