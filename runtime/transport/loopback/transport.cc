#include "runtime/transport/loopback/transport.h"

#include <unordered_map>

#include "runtime/transport/loopback/address.h"
#include "runtime/transport/loopback/lane.h"

namespace isthmus {
namespace {

// Accepted posts of one lane and kind whose events are still to be collected.
constexpr int kMaxOpenPosts = 256;

struct Lane {
  std::shared_ptr<LoopbackWire> wire;
  int side = 0;
  bool up = false;      // kLaneUp was collected
  bool closed = false;  // by us
  int open_sends = 0;
  int open_receives = 0;
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<LoopbackFabric> fabric, std::shared_ptr<LoopbackMailbox> mailbox)
      : fabric_(std::move(fabric)), mailbox_(std::move(mailbox)) {
    capabilities_.name = "loopback";
    capabilities_.reports_peer_death = true;
    capabilities_.has_backpressure = true;
  }
  ~LoopbackTransport() override;

  const TransportCapabilities& capabilities() const override { return capabilities_; }
  Result<std::string> listen(const ListenOptions& options) override;
  Result<LaneId> connect(std::string_view address, std::string_view greeting) override;
  PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) override;
  PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) override;
  std::size_t progress(std::span<TransportEvent> out) override;
  int wait_fd() const override { return mailbox_->wait_fd(); }
  bool arm() override { return mailbox_->arm(); }
  void close(LaneId lane) override;
  LaneInfo lane_info(LaneId lane) const override;

 private:
  void note(LoopbackMail& mail);
  bool offer(const std::shared_ptr<LoopbackWire>& wire, std::string_view greeting);

  const std::shared_ptr<LoopbackFabric> fabric_;
  const std::shared_ptr<LoopbackMailbox> mailbox_;
  TransportCapabilities capabilities_;
  std::unordered_map<LaneId, Lane> lanes_;
};

LoopbackTransport::~LoopbackTransport() {
  fabric_->remove(mailbox_.get());
  const auto offered = mailbox_->close();
  const auto hang_up = [](LoopbackWire& wire, int side) {
    wire.close(side, Status(), Status(), unavailable("the peer {} is gone", wire.end(side).address));
  };
  for (const auto& wire : offered) hang_up(*wire, 1);
  for (const auto& [id, lane] : lanes_) hang_up(*lane.wire, lane.side);
}

Result<std::string> LoopbackTransport::listen(const ListenOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t number, fabric_->listen(options, mailbox_));
  return format_loopback_address(number);
}

Result<LaneId> LoopbackTransport::connect(std::string_view address, std::string_view greeting) {
  if (greeting.size() > kMaxGreetingBytes) {
    return invalid_argument("a greeting of {} bytes; at most {} travel", greeting.size(), kMaxGreetingBytes);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t number, parse_loopback_address(address));
  const LaneId id = mailbox_->new_lane_id();
  const auto nobody = [address] { return unavailable("cannot open a lane to {}: nobody listens there", address); };
  LoopbackMail answer;
  answer.event.lane = id;
  const auto peer = fabric_->find(number);
  if (!peer) {
    answer.event.status = nobody();
    mailbox_->post(std::move(answer));
    return id;
  }
  auto wire = std::make_shared<LoopbackWire>(LoopbackEnd{mailbox_, id, format_loopback_address(fabric_->new_number())},
                                             LoopbackEnd{peer, peer->new_lane_id(), format_loopback_address(number)});
  lanes_.emplace(id, Lane{wire, 0});
  answer.event.kind = TransportEventKind::kLaneUp;
  mailbox_->post(std::move(answer));  // before the peer learns of the lane, which it may take down at once
  if (!offer(wire, greeting)) wire->close(0, nobody(), nobody(), Status());
  return id;
}

// False when the peer is gone.
bool LoopbackTransport::offer(const std::shared_ptr<LoopbackWire>& wire, std::string_view greeting) {
  LoopbackMail mail;
  mail.event.kind = TransportEventKind::kLaneAccepted;
  mail.event.lane = wire->end(1).lane;
  mail.event.greeting = greeting;
  mail.wire = wire;
  return wire->end(1).mailbox->post(std::move(mail));
}

PostResult LoopbackTransport::send(LaneId id, ConstBytes message, std::uint64_t token) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return PostResult::kDown;
  Lane& lane = found->second;
  if (lane.closed) return PostResult::kDown;
  if (!lane.up || lane.open_sends == kMaxOpenPosts) return PostResult::kFull;
  if (!lane.wire->send(lane.side, message, token)) return PostResult::kDown;
  ++lane.open_sends;
  return PostResult::kAccepted;
}

PostResult LoopbackTransport::receive(LaneId id, MutableBytes buffer, std::uint64_t token) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return PostResult::kDown;
  Lane& lane = found->second;
  if (lane.closed) return PostResult::kDown;
  if (!lane.up || lane.open_receives == kMaxOpenPosts) return PostResult::kFull;
  if (!lane.wire->receive(lane.side, buffer, token)) return PostResult::kDown;
  ++lane.open_receives;
  return PostResult::kAccepted;
}

std::size_t LoopbackTransport::progress(std::span<TransportEvent> out) {
  std::size_t count = 0;
  LoopbackMail mail;
  while (count < out.size() && mailbox_->take(&mail)) {
    note(mail);
    out[count++] = std::move(mail.event);
  }
  return count;
}

// Keeps the table of lanes in step with what the caller is told.
void LoopbackTransport::note(LoopbackMail& mail) {
  switch (mail.event.kind) {
    case TransportEventKind::kLaneUp: lanes_.at(mail.event.lane).up = true; break;
    case TransportEventKind::kLaneAccepted: lanes_.emplace(mail.event.lane, Lane{std::move(mail.wire), 1, true}); break;
    case TransportEventKind::kLaneDown: lanes_.erase(mail.event.lane); break;
    case TransportEventKind::kSent: --lanes_.at(mail.event.lane).open_sends; break;
    case TransportEventKind::kReceived: --lanes_.at(mail.event.lane).open_receives; break;
  }
}

void LoopbackTransport::close(LaneId id) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return;
  Lane& lane = found->second;
  lane.closed = true;
  lane.wire->close(lane.side, aborted("the lane was closed"), Status(),
                   unavailable("the peer {} closed the lane", lane.wire->end(lane.side).address));
}

LaneInfo LoopbackTransport::lane_info(LaneId id) const {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return {};
  const Lane& lane = found->second;
  return {lane.wire->end(lane.side).address, lane.wire->end(1 - lane.side).address, {}};
}

}  // namespace

Result<std::unique_ptr<Transport>> make_loopback_transport(std::shared_ptr<LoopbackFabric> fabric) {
  ISTHMUS_ASSIGN_OR_RETURN(auto mailbox, LoopbackMailbox::create());
  return std::unique_ptr<Transport>(std::make_unique<LoopbackTransport>(std::move(fabric), std::move(mailbox)));
}

}  // namespace isthmus
