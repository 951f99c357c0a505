#include "runtime/transport/libfabric/transport.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "runtime/base/log_throttle.h"
#include "runtime/transport/lane_socket.h"
#include "runtime/transport/libfabric/domain.h"
#include "runtime/transport/libfabric/error.h"
#include "runtime/transport/libfabric/lane.h"
#include "runtime/transport/libfabric/library.h"
#include "runtime/transport/libfabric/listener.h"
#include "runtime/transport/ring_queue.h"

namespace isthmus {
namespace {

// Reading the event queue costs a system call, so while completions come it is read only now and then.
constexpr int kCallsPerEventRead = 16;
constexpr std::size_t kBatch = 32;

// Room for a connection event and for the most data that a peer may send along.
struct ConnectionEvent {
  const fi_eq_cm_entry& entry() const { return *reinterpret_cast<const fi_eq_cm_entry*>(bytes.data()); }
  std::string_view data(std::size_t length) const {
    return std::string_view(bytes.data(), length).substr(sizeof(fi_eq_cm_entry));
  }

  alignas(fi_eq_cm_entry) std::array<char, sizeof(fi_eq_cm_entry) + 256> bytes{};
};

class LibfabricTransport final : public Transport {
 public:
  LibfabricTransport(std::unique_ptr<LibfabricDomain> domain, const TransportOptions& options)
      : options_(options), domain_(std::move(domain)) {
    capabilities_.name = "libfabric";
    capabilities_.library_version = libfabric_version();
    capabilities_.reports_peer_death = true;
    capabilities_.has_backpressure = true;
  }

  ~LibfabricTransport() override;

  const TransportCapabilities& capabilities() const override { return capabilities_; }
  Result<std::string> listen(const ListenOptions& options) override;
  Result<LaneId> connect(std::string_view address, std::string_view greeting) override;
  PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) override;
  PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) override;
  std::size_t progress(std::span<TransportEvent> out) override;
  int wait_fd() const override { return domain_->wait_fd(); }
  bool arm() override;
  void close(LaneId lane) override;
  void limit_rate(LaneId lane, double bytes_per_sec) override;
  std::uint64_t retransmissions(LaneId lane) const override;
  LaneInfo lane_info(LaneId lane) const override;

 private:
  LibfabricLane* find(LaneId id) const;
  LibfabricLane* find(fid_t endpoint) const;
  LibfabricLane& add_lane(std::string remote_address);
  PostResult posted(LibfabricLane& lane, LibfabricOp* op, ssize_t result);

  // Both return how much they did; failures of lanes are noted, not acted on.
  std::size_t read_completions(std::span<TransportEvent> out);
  bool read_events();
  bool take_completion_error();
  bool take_event_error();
  void take_connection_event(std::uint32_t kind, const ConnectionEvent& event, std::size_t bytes);
  void accept(const fi_eq_cm_entry& entry, std::string_view greeting);
  void set_up(LibfabricLane& lane);
  void name_ends(LibfabricLane& lane);
  Status dial(LibfabricLane& lane, const SocketAddress& address, std::string_view greeting);

  void fail(LibfabricLane& lane, Status reason);
  void take_failing_lanes_down();
  void take_down(LibfabricLane& lane, const Status& work, const Status& reason);
  TransportEvent finish(LibfabricOp* op, std::size_t bytes, Status status);
  std::size_t take_pending(std::span<TransportEvent> out);

  TransportCapabilities capabilities_;
  const TransportOptions options_;
  const std::unique_ptr<LibfabricDomain> domain_;
  LibfabricOpPool ops_;
  std::vector<LibfabricListener> listeners_;
  LaneId next_lane_ = 1;
  std::unordered_map<LaneId, std::unique_ptr<LibfabricLane>> lanes_;
  std::unordered_map<fid_t, LibfabricLane*> by_endpoint_;
  std::vector<LaneId> failing_;
  RingQueue<TransportEvent> pending_;
  LogThrottle refusals_;
  int calls_since_event_read_ = 0;
  bool ending_ = false;
};

// Peers that dialled and were not looked at are turned away; else libfabric would keep their sockets open.
LibfabricTransport::~LibfabricTransport() {
  ending_ = true;
  while (read_events()) {
  }
}

LibfabricLane* LibfabricTransport::find(LaneId id) const {
  const auto found = lanes_.find(id);
  return found == lanes_.end() ? nullptr : found->second.get();
}

LibfabricLane* LibfabricTransport::find(fid_t endpoint) const {
  const auto found = by_endpoint_.find(endpoint);
  return found == by_endpoint_.end() ? nullptr : found->second;
}

LibfabricLane& LibfabricTransport::add_lane(std::string remote_address) {
  auto lane = std::make_unique<LibfabricLane>();
  lane->id = next_lane_++;
  lane->remote_address = std::move(remote_address);
  return *lanes_.emplace(lane->id, std::move(lane)).first->second;
}

Result<std::string> LibfabricTransport::listen(const ListenOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(LibfabricListener listener, LibfabricListener::create(*domain_, options, options_));
  listeners_.push_back(std::move(listener));
  return listeners_.back().address();
}

Result<LaneId> LibfabricTransport::connect(std::string_view address, std::string_view greeting) {
  if (greeting.size() > kMaxGreetingBytes) {
    return invalid_argument("a greeting of {} bytes; at most {} travel", greeting.size(), kMaxGreetingBytes);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress remote, SocketAddress::parse(address));
  LibfabricLane& lane = add_lane(std::string(address));
  const Status dialled = dial(lane, remote, greeting);
  if (!dialled.ok()) fail(lane, dialled.with_context("cannot open a " + lane.describe()));
  return lane.id;
}

Status LibfabricTransport::dial(LibfabricLane& lane, const SocketAddress& address, std::string_view greeting) {
  const InfoPtr info = domain_->make_info(nullptr, &address);
  if (!info) return libfabric_error(FI_ENOMEM, "fi_dupinfo");
  ISTHMUS_ASSIGN_OR_RETURN(lane.endpoint, domain_->make_endpoint(info.get(), nullptr));
  by_endpoint_.emplace(&lane.endpoint->fid, &lane);
  const int error = fi_connect(lane.endpoint.get(), address.native(), greeting.data(), greeting.size());
  return error == 0 ? Status() : libfabric_error(error, "fi_connect");
}

PostResult LibfabricTransport::send(LaneId id, ConstBytes message, std::uint64_t token) {
  LibfabricLane* lane = find(id);
  if (lane == nullptr || lane->failing) return PostResult::kDown;
  if (!lane->up || lane->open_sends == domain_->max_sends()) return PostResult::kFull;
  LibfabricOp* op = ops_.take();
  op->token = token;
  op->is_send = true;
  return posted(*lane, op, fi_send(lane->endpoint.get(), message.data(), message.size(), nullptr, 0, &op->context));
}

PostResult LibfabricTransport::receive(LaneId id, MutableBytes buffer, std::uint64_t token) {
  LibfabricLane* lane = find(id);
  if (lane == nullptr || lane->failing) return PostResult::kDown;
  if (!lane->up || lane->open_receives == domain_->max_receives()) return PostResult::kFull;
  LibfabricOp* op = ops_.take();
  op->token = token;
  op->is_send = false;
  return posted(*lane, op, fi_recv(lane->endpoint.get(), buffer.data(), buffer.size(), nullptr, 0, &op->context));
}

PostResult LibfabricTransport::posted(LibfabricLane& lane, LibfabricOp* op, ssize_t result) {
  if (result == 0) {
    lane.link(op);
    return PostResult::kAccepted;
  }
  ops_.give_back(op);
  if (result == -FI_EAGAIN) return PostResult::kFull;
  fail(lane, libfabric_error(static_cast<int>(result), op->is_send ? "fi_send" : "fi_recv"));
  return PostResult::kDown;
}

std::size_t LibfabricTransport::progress(std::span<TransportEvent> out) {
  std::size_t count = take_pending(out);
  if (count < out.size()) count += read_completions(out.subspan(count));
  if (count == 0 || ++calls_since_event_read_ >= kCallsPerEventRead || !failing_.empty()) {
    calls_since_event_read_ = 0;
    while (read_events()) {
    }
    take_failing_lanes_down();
  }
  return count + take_pending(out.subspan(count));
}

bool LibfabricTransport::arm() {
  if (!pending_.empty() || !failing_.empty() || !domain_->may_sleep()) return false;
  return !read_events();  // fi_trywait() looks at completions only
}

std::size_t LibfabricTransport::take_pending(std::span<TransportEvent> out) {
  std::size_t count = 0;
  while (count < out.size() && !pending_.empty()) out[count++] = pending_.pop();
  return count;
}

std::size_t LibfabricTransport::read_completions(std::span<TransportEvent> out) {
  std::array<fi_cq_msg_entry, kBatch> entries;
  std::size_t count = 0;
  while (count < out.size()) {
    const ssize_t read = fi_cq_read(domain_->completions(), entries.data(), std::min(kBatch, out.size() - count));
    if (read == -FI_EAVAIL) {
      if (!take_completion_error()) break;
      continue;
    }
    if (read <= 0) break;
    for (ssize_t i = 0; i < read; ++i) {
      auto* op = static_cast<LibfabricOp*>(entries[i].op_context);
      out[count++] = finish(op, op->is_send ? 0 : entries[i].len, Status());
    }
  }
  return count;
}

// The operation stays open: it is returned with all others when its lane is taken down, which is now due.
bool LibfabricTransport::take_completion_error() {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(domain_->completions(), &error, 0) <= 0) return false;
  const auto* op = static_cast<const LibfabricOp*>(error.op_context);
  if (op == nullptr) return true;
  LibfabricLane& lane = *op->lane;
  const std::string what = fmt::format("{}: a {} failed", lane.describe(), op->is_send ? "send" : "receive");
  fail(lane, error.err == FI_ECANCELED ? unavailable("{}: the peer closed it", lane.describe())
                                       : libfabric_error(error.err, what));
  return true;
}

// False when there is no event.
bool LibfabricTransport::read_events() {
  ConnectionEvent event;
  std::uint32_t kind = 0;
  const ssize_t bytes = fi_eq_read(domain_->events(), &kind, event.bytes.data(), event.bytes.size(), 0);
  if (bytes == -FI_EAVAIL) return take_event_error();
  if (bytes < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return false;
  take_connection_event(kind, event, static_cast<std::size_t>(bytes));
  return true;
}

bool LibfabricTransport::take_event_error() {
  fi_eq_err_entry error{};
  if (fi_eq_readerr(domain_->events(), &error, 0) <= 0) return false;
  if (LibfabricLane* lane = find(error.fid)) {
    fail(*lane, libfabric_error(error.err, lane->up ? lane->describe() : "cannot open a " + lane->describe()));
  }
  return true;
}

void LibfabricTransport::take_connection_event(std::uint32_t kind, const ConnectionEvent& event, std::size_t bytes) {
  if (kind == FI_CONNREQ) return accept(event.entry(), event.data(bytes));
  LibfabricLane* lane = find(event.entry().fid);
  if (lane == nullptr) return;
  if (kind == FI_CONNECTED) set_up(*lane);
  if (kind == FI_SHUTDOWN) fail(*lane, unavailable("{}: the peer closed it", lane->describe()));
}

void LibfabricTransport::accept(const fi_eq_cm_entry& entry, std::string_view greeting) {
  const InfoPtr info(entry.info);
  if (ending_) {
    fi_reject(reinterpret_cast<fid_pep*>(entry.fid), info->handle, nullptr, 0);
    return;
  }
  LibfabricLane& lane = add_lane({});
  lane.accepted = true;
  lane.greeting = greeting;
  Status status;
  if (greeting.size() > kMaxGreetingBytes) {
    status = invalid_argument("its greeting has {} bytes, more than {}", greeting.size(), kMaxGreetingBytes);
  } else if (auto endpoint = domain_->make_endpoint(info.get(), nullptr); endpoint.ok()) {
    lane.endpoint = std::move(endpoint).value();
    by_endpoint_.emplace(&lane.endpoint->fid, &lane);
    const int error = fi_accept(lane.endpoint.get(), nullptr, 0);
    if (error == 0) return;
    status = libfabric_error(error, "fi_accept");
  } else {
    status = endpoint.status();
  }
  refusals_.warn(SteadyClock::instance().now(), "a lane that a peer opens is refused: {}", status.to_string());
  if (!lane.endpoint) fi_reject(reinterpret_cast<fid_pep*>(entry.fid), info->handle, nullptr, 0);
  fail(lane, status);
}

// The lane carries messages from now on.
void LibfabricTransport::set_up(LibfabricLane& lane) {
  name_ends(lane);
  lane.up = true;
  TransportEvent event;
  event.kind = lane.accepted ? TransportEventKind::kLaneAccepted : TransportEventKind::kLaneUp;
  event.lane = lane.id;
  event.greeting = std::move(lane.greeting);
  pending_.push(std::move(event));
}

void LibfabricTransport::name_ends(LibfabricLane& lane) {
  fid_ep* endpoint = lane.endpoint.get();
  const auto local = name_from([&](void* to, std::size_t* length) { return fi_getname(&endpoint->fid, to, length); });
  const auto remote = name_from([&](void* to, std::size_t* length) { return fi_getpeer(endpoint, to, length); });
  if (!local.ok() || !remote.ok()) return;
  lane.local_address = local->text();
  lane.remote_address = remote->text();
  lane.remote = *remote;
  lane.socket = find_lane_socket(*local, *remote);
  adopt_lane_socket(lane.socket, options_);
}

void LibfabricTransport::limit_rate(LaneId id, double bytes_per_sec) {
  const LibfabricLane* lane = find(id);
  if (lane != nullptr && lane->up) limit_socket_rate(lane->socket, lane->remote, bytes_per_sec);
}

// The first reason counts, but a message that was too long is the reason whatever came with it.
void LibfabricTransport::fail(LibfabricLane& lane, Status reason) {
  if (!lane.failing) failing_.push_back(lane.id);
  if (!lane.failing || reason.code() == StatusCode::kCorruption) lane.failure = std::move(reason);
  lane.failing = true;
}

void LibfabricTransport::take_failing_lanes_down() {
  while (!failing_.empty()) {
    const LaneId id = failing_.back();
    failing_.pop_back();
    if (LibfabricLane* lane = find(id)) {
      const Status reason = lane->failure;
      take_down(*lane, reason, reason);
    }
  }
}

void LibfabricTransport::close(LaneId id) {
  LibfabricLane* lane = find(id);
  if (lane != nullptr) take_down(*lane, aborted("the lane was closed"), Status());
}

// fi_close() hands back what libfabric has in hand; completions that were ready before it are read first, so that a
// message that is here is not reported as lost and no operation is used again while libfabric still knows it.
void LibfabricTransport::take_down(LibfabricLane& lane, const Status& work, const Status& reason) {
  lane.failing = true;
  if (lane.endpoint) {
    fi_shutdown(lane.endpoint.get(), 0);  // sends what small messages libfabric has collected
    by_endpoint_.erase(&lane.endpoint->fid);
    lane.endpoint.reset();
  }
  std::array<TransportEvent, kBatch> events;
  std::size_t count = 0;
  do {
    count = read_completions(events);
    for (std::size_t i = 0; i < count; ++i) pending_.push(std::move(events[i]));
  } while (count == events.size());
  while (lane.first != nullptr) pending_.push(finish(lane.first, 0, work));
  const bool known = lane.up || !lane.accepted;
  if (known) {
    TransportEvent down;
    down.lane = lane.id;
    down.status = reason;
    pending_.push(std::move(down));
  }
  lanes_.erase(lane.id);
}

TransportEvent LibfabricTransport::finish(LibfabricOp* op, std::size_t bytes, Status status) {
  TransportEvent event;
  event.kind = op->is_send ? TransportEventKind::kSent : TransportEventKind::kReceived;
  event.lane = op->lane->id;
  event.token = op->token;
  event.bytes = bytes;
  event.status = std::move(status);
  op->lane->unlink(op);
  ops_.give_back(op);
  return event;
}

std::uint64_t LibfabricTransport::retransmissions(LaneId id) const {
  const LibfabricLane* lane = find(id);
  return lane != nullptr && lane->up ? retransmissions_of(lane->socket, lane->remote) : 0;
}

LaneInfo LibfabricTransport::lane_info(LaneId id) const {
  const LibfabricLane* lane = find(id);
  if (lane == nullptr || !lane->up) return {};
  LaneInfo info{lane->local_address, lane->remote_address, {}};
  const auto local = SocketAddress::parse(lane->local_address);
  const auto remote = SocketAddress::parse(lane->remote_address);
  if (local.ok() && remote.ok()) info.congestion = congestion_of(find_lane_socket(*local, *remote));
  return info;
}

}  // namespace

Result<std::unique_ptr<Transport>> make_libfabric_transport(const TransportOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(load_libfabric());
  ISTHMUS_ASSIGN_OR_RETURN(auto domain, LibfabricDomain::create());
  return std::unique_ptr<Transport>(std::make_unique<LibfabricTransport>(std::move(domain), options));
}

}  // namespace isthmus
