#include "runtime/transport/ucx/lane.h"

#include <sys/socket.h>

#include <random>

#include "runtime/base/socket_address.h"
#include "runtime/transport/lane_socket.h"
#include "runtime/transport/ucx/error.h"

namespace isthmus {
namespace {

// What a message costs of the window beyond its bytes: UCX's own record of it.
constexpr std::size_t kMessageOverheadBytes = 256;

std::uint64_t cost_of(std::size_t bytes) { return bytes + kMessageOverheadBytes; }

std::uint64_t random_tag() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) & ~kTagKindMask;
}

}  // namespace

UcxOp* UcxOpPool::take() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<UcxOp[]>(kBlock));
    for (std::size_t i = 0; i < kBlock; ++i) give_back(&blocks_.back()[i]);
  }
  UcxOp* op = free_;
  free_ = op->next;
  return op;
}

void UcxOpPool::give_back(UcxOp* op) {
  op->request = {};
  op->next = free_;
  free_ = op;
}

UcxLane::UcxLane(LaneId id, bool accepted, std::shared_ptr<UcxWorker> worker, UcxOpPool* ops, std::size_t window_bytes)
    : id_(id),
      accepted_(accepted),
      worker_(std::move(worker)),
      ops_(ops),
      window_bytes_(window_bytes),
      tag_(random_tag()) {}

std::string UcxLane::describe() const {
  return local_address.empty() ? fmt::format("lane to {}", remote_address)
                               : fmt::format("lane {} -> {}", local_address, remote_address);
}

Status UcxLane::lost(ucs_status_t status) const {
  return unavailable("{}: the peer closed it, or cannot be reached: {}", describe(), ucs_status_string(status));
}

// ---------------------------------------------------------------------------------------------------- opening

Status UcxLane::open(const std::string& worker_address) {
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(worker_address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = on_failure;
  params.err_handler.arg = this;
  const ucs_status_t status = ucp_ep_create(worker_->get(), &params, &endpoint_);
  if (status == UCS_OK) return Status();
  endpoint_ = nullptr;
  return unavailable("cannot open a {}: {}", describe(), ucs_status_string(status));
}

void UcxLane::on_failure(void* lane, ucp_ep_h, ucs_status_t status) {
  auto* self = static_cast<UcxLane*>(lane);
  if (!self->ending_) self->fail(self->lost(status));
}

void UcxLane::say_hello(UcxHello hello) {
  hello.lane_tag = tag_;
  hello_bytes_ = encode_hello(hello);
  post_control_receives();
  post_send(endpoint_, as_bytes(hello_bytes_), kHelloTag, &hello_);
}

void UcxLane::say_welcome(std::uint64_t peer_tag) {
  peer_tag_ = peer_tag;
  up_ = true;
  post_control_receives();
  send_control(UcxControlKind::kWelcome, tag_);
}

// ---------------------------------------------------------------------------------------------------- messages

PostResult UcxLane::send(ConstBytes message, std::uint64_t token) {
  if (!up_ || sends_.size() == kMaxOps) return PostResult::kFull;
  UcxOp* op = ops_->take();
  op->token = token;
  op->message = message;
  sends_.push(op);
  waiting_.push(op);
  post_waiting();
  return PostResult::kAccepted;
}

PostResult UcxLane::receive(MutableBytes buffer, std::uint64_t token) {
  if (!up_ || receives_.size() == kMaxOps) return PostResult::kFull;
  UcxOp* op = ops_->take();
  op->token = token;
  receives_.push(op);
  post_receive(worker_->get(), buffer, kDataTag | tag_, &op->request);
  return PostResult::kAccepted;
}

bool UcxLane::has_window_for(std::size_t bytes) const {
  const std::uint64_t under_way = sent_ - consumed_by_peer_;
  return under_way == 0 || under_way + cost_of(bytes) <= window_bytes_;
}

void UcxLane::post_waiting() {
  while (!waiting_.empty() && has_window_for(waiting_.front()->message.size())) {
    UcxOp* op = waiting_.pop();
    sent_ += cost_of(op->message.size());
    post_send(endpoint_, op->message, kDataTag | peer_tag_, &op->request);
  }
}

// Operations are returned in the order of their posts, whatever the order in which UCX finishes them.
void UcxLane::return_done(RingQueue<UcxOp*>* ops, TransportEventKind kind, RingQueue<TransportEvent>* events) {
  while (!ops->empty() && ops->front()->request.done) {
    const UcxRequest& request = ops->front()->request;
    if (request.status != UCS_OK && !ending_) return note_failure(request, kind);
    UcxOp* op = ops->pop();
    TransportEvent event;
    event.kind = kind;
    event.lane = id_;
    event.token = op->token;
    event.bytes = request.bytes;
    if (request.status != UCS_OK) event.status = work_;
    if (kind == TransportEventKind::kReceived) consumed_ += cost_of(request.bytes);
    events->push(std::move(event));
    ops_->give_back(op);
  }
}

void UcxLane::note_failure(const UcxRequest& request, TransportEventKind kind) {
  if (request.status == UCS_ERR_MESSAGE_TRUNCATED) {
    return fail(corruption("{}: a message is longer than the buffer for it", describe()));
  }
  const char* what = kind == TransportEventKind::kSent ? "a send" : "a receive";
  fail(unavailable("{}: {} failed: {}", describe(), what, ucs_status_string(request.status)));
}

// ---------------------------------------------------------------------------------------------------- control messages

void UcxLane::post_control_receives() {
  for (ControlReceive& receive : control_receives_) {
    post_receive(worker_->get(), receive.bytes, kControlTag | tag_, &receive.request);
  }
}

void UcxLane::send_control(UcxControlKind kind, std::uint64_t value) {
  control_bytes_ = encode_control({kind, value});
  post_send(endpoint_, as_bytes(control_bytes_), kControlTag | peer_tag_, &control_);
}

void UcxLane::take_control(RingQueue<TransportEvent>* events) {
  for (ControlReceive* next = &control_receives_[next_control_]; next->request.done && !is_ending();
       next = &control_receives_[next_control_]) {
    if (next->request.status != UCS_OK) return fail(lost(next->request.status));
    const auto control = decode_control(ConstBytes(next->bytes).first(next->request.bytes));
    if (!control.ok()) return fail(control.status().with_context(describe()));
    post_receive(worker_->get(), next->bytes, kControlTag | tag_, &next->request);
    next_control_ = (next_control_ + 1) % kControlReceives;
    take(*control, events);
  }
}

void UcxLane::take(const UcxControl& control, RingQueue<TransportEvent>* events) {
  if (control.kind == UcxControlKind::kWelcome) {
    if (up_ || (control.value & kTagKindMask) != 0) return fail(corruption("{}: a wrong welcome", describe()));
    peer_tag_ = control.value;
    up_ = true;
    TransportEvent event;
    event.kind = TransportEventKind::kLaneUp;
    event.lane = id_;
    return events->push(std::move(event));
  }
  if (control.kind == UcxControlKind::kGoodbye) return fail(unavailable("{}: the peer closed it", describe()));
  if (control.value < consumed_by_peer_ || control.value > sent_) {
    return fail(corruption("{}: the peer consumed {} of {}", describe(), control.value, sent_));
  }
  consumed_by_peer_ = control.value;
}

void UcxLane::announce() {
  if (control_.is_open() || consumed_ - announced_ < window_bytes_ / 4) return;
  announced_ = consumed_;
  send_control(UcxControlKind::kConsumed, consumed_);
}

// ---------------------------------------------------------------------------------------------------- end

void UcxLane::fail(Status failure) {
  if (ending_) return;
  if (failure_.ok() || failure.code() == StatusCode::kCorruption) failure_ = std::move(failure);
}

void UcxLane::end(Status work, Status reason) {
  if (ending_) return;
  ending_ = true;
  work_ = std::move(work);
  reason_ = std::move(reason);
  while (!waiting_.empty()) {
    UcxRequest& request = waiting_.pop()->request;
    request.done = true;
    request.status = UCS_ERR_CANCELED;
  }
  if (endpoint_ == nullptr) return;
  for (ControlReceive& receive : control_receives_) cancel(worker_->get(), &receive.request);
  for (std::size_t i = receives_.size(); i > 0; --i) {
    UcxOp* op = receives_.pop();
    cancel(worker_->get(), &op->request);
    receives_.push(op);
  }
  if (up_ && !control_.is_open()) send_control(UcxControlKind::kGoodbye, 0);
  post_close(endpoint_, &close_);
  shut_down_socket();
}

void UcxLane::adopt_socket(int socket, const TransportOptions& options) {
  socket_ = socket;
  adopt_lane_socket(socket, options);
}

void UcxLane::limit_rate(double bytes_per_sec) const {
  const auto remote = SocketAddress::parse(remote_address);
  if (remote.ok()) limit_socket_rate(socket_, *remote, bytes_per_sec);
}

std::uint64_t UcxLane::retransmissions() const {
  const auto remote = SocketAddress::parse(remote_address);
  return remote.ok() ? retransmissions_of(socket_, *remote) : 0;
}

// UCX keeps the connection of a closed endpoint as long as the peer might send on it; so neither would the peer learn
// of the end nor the descriptor be given back.
void UcxLane::shut_down_socket() const {
  const auto remote = SocketAddress::parse(remote_address);
  if (socket_ < 0 || !remote.ok()) return;
  const auto end = SocketAddress::remote_of(socket_);  // the number may be another's by now
  if (end.ok() && *end == *remote) ::shutdown(socket_, SHUT_RDWR);
}

// A receive whose message broke off in the middle can neither be cancelled nor ends by itself (seen with UCX 1.13).
// Once the endpoint is closed nothing more is written to its buffer; its record stays with UCX.
void UcxLane::give_up_half_received(RingQueue<TransportEvent>* events) {
  if (!sends_.empty() || hello_.is_open() || control_.is_open() || close_.is_open()) return;
  while (!receives_.empty()) {
    UcxOp* op = receives_.pop();
    TransportEvent event;
    event.kind = TransportEventKind::kReceived;
    event.lane = id_;
    event.token = op->token;
    event.status = work_;
    events->push(std::move(event));
    if (!op->request.is_open()) ops_->give_back(op);
  }
}

bool UcxLane::all_returned() const {
  for (const ControlReceive& receive : control_receives_) {
    if (receive.request.is_open()) return false;
  }
  return sends_.empty() && receives_.empty() && !hello_.is_open() && !control_.is_open() && !close_.is_open();
}

bool UcxLane::needs_progress() const {
  const auto is_done = [](const RingQueue<UcxOp*>& ops) { return !ops.empty() && ops.front()->request.done; };
  return is_ending() || is_done(sends_) || is_done(receives_) || control_receives_[next_control_].request.done;
}

void UcxLane::advance(RingQueue<TransportEvent>* events) {
  if (over_) return;
  if (!ending_) take_control(events);
  return_done(&receives_, TransportEventKind::kReceived, events);
  return_done(&sends_, TransportEventKind::kSent, events);
  if (!failure_.ok()) end(failure_, failure_);
  if (!ending_ && up_) {
    post_waiting();
    announce();
    return;
  }
  if (!ending_) return;
  give_up_half_received(events);
  if (!all_returned()) return;
  over_ = true;
  TransportEvent event;
  event.kind = TransportEventKind::kLaneDown;
  event.lane = id_;
  event.status = reason_;
  events->push(std::move(event));
}

}  // namespace isthmus
