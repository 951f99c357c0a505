#include "runtime/transport/shaped/transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>

#include "runtime/base/fd.h"
#include "runtime/transport/shaped/lane.h"

namespace isthmus {
namespace {

// Sends of one lane whose kSent is still to be collected.
constexpr int kMaxOpenSends = 256;

class ShapedTransport final : public Transport {
 public:
  ShapedTransport(std::unique_ptr<Transport> inner, std::shared_ptr<ShapedControl> control, const Clock& clock,
                  std::uint64_t seed, Fd epoll)
      : control_(std::move(control)),
        clock_(clock),
        epoll_(std::move(epoll)),
        line_out_(seed),
        line_in_(~seed),
        state_(control_->state()),
        inner_(std::move(inner)) {
    capabilities_ = inner_->capabilities();
    capabilities_.name = fmt::format("shaped({})", capabilities_.name);
  }

  const TransportCapabilities& capabilities() const override { return capabilities_; }
  Result<std::string> listen(const ListenOptions& options) override { return inner_->listen(options); }
  Result<LaneId> connect(std::string_view address, std::string_view greeting) override;
  PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) override;
  PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) override;
  std::size_t progress(std::span<TransportEvent> out) override;
  int wait_fd() const override { return epoll_.get(); }
  bool arm() override;
  TimePoint next_due() const override;
  void close(LaneId lane) override;
  LaneInfo lane_info(LaneId lane) const override;

 private:
  // What the hand on the control has changed.
  void refresh(TimePoint now);
  void restart_after_heal(TimePoint now);

  // Events of the inner transport.
  void collect_inner(TimePoint now);
  void take_event(TransportEvent event, TimePoint now);
  void take_accepted(TransportEvent event, TimePoint now);
  void take_received(ShapedLane& lane, TransportEvent event, TimePoint now);
  void take_inner_down(ShapedLane& lane, TransportEvent event, TimePoint now);

  // What falls due.
  void move_lane(LaneId id, TimePoint now);
  Status dial(ShapedLane& lane);
  void fill_buffer(ShapedLane& lane, TimePoint now);
  void release_out(ShapedLane& lane, TimePoint now);
  void release_in(ShapedLane& lane, TimePoint now);

  void abandon(ShapedLane& lane, const Status& work, const Status& reason);
  void drop_outgoing(ShapedLane& lane, const Status& status);
  void finish(ShapedLane& lane, const Status& reason);
  void report(const ShapedLane& lane, TransportEventKind kind, std::uint64_t token, const Status& status);
  ShapedLane* find(LaneId id) const;

  const std::shared_ptr<ShapedControl> control_;
  const Clock& clock_;
  const Fd epoll_;
  ShapedLine line_out_, line_in_;
  std::uint64_t seen_version_ = 0;
  ShapedState state_;
  TransportCapabilities capabilities_;
  ShapedBuffers buffers_;
  LaneId next_lane_ = 1;
  std::unordered_map<LaneId, std::unique_ptr<ShapedLane>> lanes_;
  std::unordered_map<LaneId, ShapedLane*> by_inner_;
  std::vector<LaneId> order_;  // of lanes_: progress() serves them in the order in which they were made
  RingQueue<TransportEvent> ready_;
  const std::unique_ptr<Transport> inner_;  // goes first: until then it may read buffers_
};

ShapedLane* ShapedTransport::find(LaneId id) const {
  const auto found = lanes_.find(id);
  return found == lanes_.end() ? nullptr : found->second.get();
}

Result<LaneId> ShapedTransport::connect(std::string_view address, std::string_view greeting) {
  if (greeting.size() > kMaxGreetingBytes) {
    return invalid_argument("a greeting of {} bytes; at most {} travel", greeting.size(), kMaxGreetingBytes);
  }
  const TimePoint now = clock_.now();
  refresh(now);
  auto lane = std::make_unique<ShapedLane>();
  lane->id = next_lane_++;
  lane->address = address;
  lane->greeting = greeting;
  lane->dial_at = now + state_.shape.out.delay;
  if (!state_.cut && lane->dial_at <= now) ISTHMUS_RETURN_IF_ERROR(dial(*lane));
  const LaneId id = lane->id;
  order_.push_back(id);
  lanes_.emplace(id, std::move(lane));
  return id;
}

PostResult ShapedTransport::send(LaneId id, ConstBytes message, std::uint64_t token) {
  const TimePoint now = clock_.now();
  refresh(now);
  ShapedLane* lane = find(id);
  if (lane == nullptr || lane->closing || (lane->up && !lane->inner_up)) return PostResult::kDown;
  if (!lane->up || lane->open_sends == kMaxOpenSends) return PostResult::kFull;
  ++lane->open_sends;
  lane->held.push({message, token});
  fill_buffer(*lane, now);
  if (!state_.cut) release_out(*lane, now);
  return PostResult::kAccepted;
}

PostResult ShapedTransport::receive(LaneId id, MutableBytes buffer, std::uint64_t token) {
  const ShapedLane* lane = find(id);
  if (lane == nullptr || lane->closing || (lane->up && !lane->inner_up)) return PostResult::kDown;
  return lane->up ? inner_->receive(lane->inner, buffer, token) : PostResult::kFull;
}

std::size_t ShapedTransport::progress(std::span<TransportEvent> out) {
  const TimePoint now = clock_.now();
  refresh(now);
  collect_inner(now);
  if (!state_.cut) {
    for (std::size_t i = 0; i < order_.size(); ++i) move_lane(order_[i], now);
  }
  if (order_.size() != lanes_.size()) std::erase_if(order_, [this](LaneId id) { return !lanes_.contains(id); });
  std::size_t count = 0;
  while (count < out.size() && !ready_.empty()) {
    out[count] = ready_.pop();
    ShapedLane* lane = out[count].kind == TransportEventKind::kSent ? find(out[count].lane) : nullptr;
    if (lane != nullptr) --lane->open_sends;
    ++count;
  }
  return count;
}

bool ShapedTransport::arm() {
  control_->wake_fd().drain();
  if (control_->version() != seen_version_ || next_due() <= clock_.now()) return false;
  return inner_->arm();
}

TimePoint ShapedTransport::next_due() const {
  if (!ready_.empty()) return TimePoint{};
  TimePoint due = inner_->next_due();
  if (state_.cut) return due;
  for (const auto& [id, lane] : lanes_) {
    due = std::min({due, lane->inner == 0 ? lane->dial_at : kNever, lane->out_due(), lane->in_due()});
  }
  return due;
}

void ShapedTransport::close(LaneId id) {
  ShapedLane* lane = find(id);
  if (lane != nullptr && !lane->closing) abandon(*lane, aborted("the lane was closed"), Status());
}

LaneInfo ShapedTransport::lane_info(LaneId id) const {
  const ShapedLane* lane = find(id);
  return lane == nullptr ? LaneInfo{} : inner_->lane_info(lane->inner);
}

void ShapedTransport::refresh(TimePoint now) {
  if (control_->version() == seen_version_) return;
  seen_version_ = control_->version();
  const ShapedState before = std::exchange(state_, control_->state());
  if (state_.heals != before.heals) restart_after_heal(now);
  if (state_.resets == before.resets) return;
  for (const LaneId id : std::vector<LaneId>(order_)) {
    ShapedLane* lane = find(id);
    if (lane == nullptr || lane->closing) continue;
    const Status reset = unavailable("the lane was reset on its way (emulated)");
    abandon(*lane, reset, reset);
  }
}

void ShapedTransport::restart_after_heal(TimePoint now) {
  for (const auto& [id, lane] : lanes_) {
    const Duration stall = lane->up ? state_.stall : Duration(0);
    lane->out_not_before = now + stall + state_.shape.out.delay;
    lane->in_not_before = now + stall + state_.shape.in.delay;
    lane->dial_at = now + state_.shape.out.delay;
  }
}

void ShapedTransport::collect_inner(TimePoint now) {
  std::array<TransportEvent, 32> events;
  std::size_t count = 0;
  do {
    count = inner_->progress(events);
    for (std::size_t i = 0; i < count; ++i) take_event(std::move(events[i]), now);
  } while (count == events.size());
}

void ShapedTransport::take_event(TransportEvent event, TimePoint now) {
  if (event.kind == TransportEventKind::kLaneAccepted) return take_accepted(std::move(event), now);
  ShapedLane& lane = *by_inner_.at(event.lane);
  switch (event.kind) {
    case TransportEventKind::kLaneUp:
      lane.inner_up = true;
      if (!lane.closing) lane.push_in(std::move(event), now + state_.shape.in.delay);
      break;
    case TransportEventKind::kSent:
      lane.buffered_bytes -= buffers_.bytes(event.token).size();
      lane.inner_full = false;
      buffers_.release(event.token);
      break;
    case TransportEventKind::kReceived: take_received(lane, std::move(event), now); break;
    case TransportEventKind::kLaneDown: take_inner_down(lane, std::move(event), now); break;
    case TransportEventKind::kLaneAccepted: break;
  }
}

void ShapedTransport::take_accepted(TransportEvent event, TimePoint now) {
  auto lane = std::make_unique<ShapedLane>();
  lane->id = next_lane_++;
  lane->inner = event.lane;
  lane->inner_up = true;
  by_inner_.emplace(event.lane, lane.get());
  lane->push_in(std::move(event), now + state_.shape.in.delay);
  order_.push_back(lane->id);
  lanes_.emplace(lane->id, std::move(lane));
}

void ShapedTransport::take_received(ShapedLane& lane, TransportEvent event, TimePoint now) {
  if (lane.closing) return report(lane, event.kind, event.token, lane.down_work);
  const TimePoint due = event.status.ok() ? line_in_.admit(event.bytes, now, state_.shape.in)
                                          : now + state_.shape.in.delay;  // the news of the lane's end
  lane.push_in(std::move(event), due);
}

// The news that a lane is down travel as messages do; what the caller had posted ends with them.
void ShapedTransport::take_inner_down(ShapedLane& lane, TransportEvent event, TimePoint now) {
  by_inner_.erase(event.lane);
  lane.inner_up = false;
  if (lane.closing) return finish(lane, lane.down_reason);
  drop_outgoing(lane, event.status);
  lane.push_in(std::move(event), now + state_.shape.in.delay);
}

void ShapedTransport::move_lane(LaneId id, TimePoint now) {
  ShapedLane* lane = find(id);
  if (lane == nullptr || lane->closing) return;
  if (lane->inner == 0) {
    const Status dialled = lane->dial_at <= now ? dial(*lane) : Status();
    if (!dialled.ok()) return finish(*lane, dialled);
  }
  fill_buffer(*lane, now);
  release_out(*lane, now);
  release_in(*lane, now);
}

Status ShapedTransport::dial(ShapedLane& lane) {
  ISTHMUS_ASSIGN_OR_RETURN(lane.inner, inner_->connect(lane.address, lane.greeting));
  by_inner_.emplace(lane.inner, &lane);
  return Status();
}

void ShapedTransport::fill_buffer(ShapedLane& lane, TimePoint now) {
  while (!lane.held.empty()) {
    const std::size_t bytes = lane.held.front().message.size();
    if (lane.buffered_bytes != 0 && lane.buffered_bytes + bytes > state_.shape.buffer_bytes) return;
    const ShapedLane::Held held = lane.held.pop();
    lane.buffered_bytes += bytes;
    lane.last_out_due = std::max(lane.last_out_due, line_out_.admit(bytes, now, state_.shape.out));
    lane.out.push({buffers_.copy(held.message), lane.last_out_due});
    report(lane, TransportEventKind::kSent, held.token, Status());
  }
}

void ShapedTransport::release_out(ShapedLane& lane, TimePoint now) {
  while (lane.out_ready(now)) {
    const std::size_t buffer = lane.out.front().buffer;
    const PostResult result = inner_->send(lane.inner, buffers_.bytes(buffer), buffer);
    if (result == PostResult::kFull) lane.inner_full = true;  // until its next kSent
    if (result != PostResult::kAccepted) return;              // kDown: the inner kLaneDown is on its way
    lane.out.pop();
  }
}

void ShapedTransport::release_in(ShapedLane& lane, TimePoint now) {
  while (lane.in_ready(now)) {
    TransportEvent event = lane.in.pop().event;
    if (event.kind == TransportEventKind::kLaneDown) return finish(lane, event.status);
    if (event.kind != TransportEventKind::kReceived) lane.up = true;
    ready_.push(std::move(event));
  }
}

// Takes a lane down from this side: everything held back is returned now, the rest as the inner transport returns it.
void ShapedTransport::abandon(ShapedLane& lane, const Status& work, const Status& reason) {
  lane.closing = true;
  lane.down_work = work;
  lane.down_reason = reason;
  drop_outgoing(lane, work);
  while (!lane.in.empty()) {
    TransportEvent event = lane.in.pop().event;
    switch (event.kind) {
      case TransportEventKind::kReceived: report(lane, event.kind, event.token, work); break;
      case TransportEventKind::kLaneAccepted: ready_.push(std::move(event)); break;
      case TransportEventKind::kLaneDown: return finish(lane, event.status);
      default: break;  // kLaneUp: never came to be
    }
  }
  if (lane.inner == 0) return finish(lane, reason);
  inner_->close(lane.inner);
}

void ShapedTransport::drop_outgoing(ShapedLane& lane, const Status& status) {
  while (!lane.out.empty()) {
    const std::size_t buffer = lane.out.pop().buffer;
    lane.buffered_bytes -= buffers_.bytes(buffer).size();
    buffers_.release(buffer);
  }
  while (!lane.held.empty()) report(lane, TransportEventKind::kSent, lane.held.pop().token, status);
}

// The last event of a lane; `lane` is gone afterwards.
void ShapedTransport::finish(ShapedLane& lane, const Status& reason) {
  report(lane, TransportEventKind::kLaneDown, 0, reason);
  lanes_.erase(lane.id);
}

void ShapedTransport::report(const ShapedLane& lane, TransportEventKind kind, std::uint64_t token,
                             const Status& status) {
  TransportEvent event;
  event.kind = kind;
  event.lane = lane.id;
  event.token = token;
  event.status = status;
  ready_.push(std::move(event));
}

Status watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return unavailable("cannot watch a descriptor: {}", errno_message(errno));
}

}  // namespace

Result<std::unique_ptr<Transport>> make_shaped_transport(std::unique_ptr<Transport> inner,
                                                         std::shared_ptr<ShapedControl> control, const Clock& clock,
                                                         std::uint64_t seed) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return unavailable("cannot make an epoll descriptor: {}", errno_message(errno));
  ISTHMUS_RETURN_IF_ERROR(watch(epoll.get(), inner->wait_fd()));
  ISTHMUS_RETURN_IF_ERROR(watch(epoll.get(), control->wake_fd().get()));
  return std::unique_ptr<Transport>(
      std::make_unique<ShapedTransport>(std::move(inner), std::move(control), clock, seed, std::move(epoll)));
}

}  // namespace isthmus
