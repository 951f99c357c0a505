// A transport that shows a test what arrives, before its owner sees it: messages, to be damaged, and greetings.
//
// Threads: as the transport within.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"

namespace isthmus {

struct Tampering {
  std::function<void(MutableBytes)> on_message;  // may change it
  std::vector<std::string> greetings;            // of the lanes that peers opened
};

class TamperingTransport final : public Transport {
 public:
  TamperingTransport(std::unique_ptr<Transport> inner, Tampering* tampering)
      : inner_(std::move(inner)), tampering_(tampering) {}

  const TransportCapabilities& capabilities() const override { return inner_->capabilities(); }
  Result<std::string> listen(const ListenOptions& options) override { return inner_->listen(options); }
  Result<LaneId> connect(std::string_view address, std::string_view greeting) override {
    return inner_->connect(address, greeting);
  }
  PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) override {
    return inner_->send(lane, message, token);
  }
  PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) override {
    buffers_[token] = buffer;
    return inner_->receive(lane, buffer, token);
  }
  std::size_t progress(std::span<TransportEvent> out) override {
    const std::size_t count = inner_->progress(out);
    for (const TransportEvent& event : out.first(count)) {
      if (event.kind == TransportEventKind::kLaneAccepted) tampering_->greetings.push_back(event.greeting);
      if (event.kind == TransportEventKind::kReceived && event.status.ok() && tampering_->on_message)
        tampering_->on_message(buffers_.at(event.token).first(event.bytes));
    }
    return count;
  }
  int wait_fd() const override { return inner_->wait_fd(); }
  bool arm() override { return inner_->arm(); }
  TimePoint next_due() const override { return inner_->next_due(); }
  void close(LaneId lane) override { inner_->close(lane); }
  LaneInfo lane_info(LaneId lane) const override { return inner_->lane_info(lane); }

 private:
  const std::unique_ptr<Transport> inner_;
  Tampering* const tampering_;
  std::map<std::uint64_t, MutableBytes> buffers_;  // by token
};

}  // namespace isthmus
