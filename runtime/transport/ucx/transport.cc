#include "runtime/transport/ucx/transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/base/fd.h"
#include "runtime/base/log_throttle.h"
#include "runtime/transport/lane_socket.h"
#include "runtime/transport/ring_queue.h"
#include "runtime/transport/route.h"
#include "runtime/transport/ucx/address.h"
#include "runtime/transport/ucx/lane.h"
#include "runtime/transport/ucx/library.h"
#include "runtime/transport/ucx/listener.h"
#include "runtime/transport/ucx/worker.h"

namespace isthmus {
namespace {

constexpr Duration kCloseLimit = std::chrono::seconds(1);

class UcxTransport final : public Transport {
 public:
  UcxTransport(Fd epoll, const TransportOptions& options) : options_(options), epoll_(std::move(epoll)) {
    capabilities_.name = "ucx";
    capabilities_.library_version = ucx_version();
    capabilities_.reports_peer_death = true;
    capabilities_.has_backpressure = true;
  }
  ~UcxTransport() override;

  const TransportCapabilities& capabilities() const override { return capabilities_; }
  Result<std::string> listen(const ListenOptions& options) override;
  Result<LaneId> connect(std::string_view address, std::string_view greeting) override;
  PostResult send(LaneId lane, ConstBytes message, std::uint64_t token) override;
  PostResult receive(LaneId lane, MutableBytes buffer, std::uint64_t token) override;
  std::size_t progress(std::span<TransportEvent> out) override;
  int wait_fd() const override { return epoll_.get(); }
  bool arm() override;
  void close(LaneId lane) override;
  void limit_rate(LaneId lane, double bytes_per_sec) override;
  std::uint64_t retransmissions(LaneId lane) const override;
  LaneInfo lane_info(LaneId lane) const override;

 private:
  UcxLane* find(LaneId id) const;
  UcxLane& add_lane(bool accepted, std::shared_ptr<UcxWorker> worker);
  Status watch(std::shared_ptr<UcxWorker> worker);
  Result<std::shared_ptr<UcxWorker>> make_dialling_worker(const SocketAddress& remote);
  Status dial(UcxLane& lane, const UcxWorker& worker, const UcxAddress& address, std::string_view greeting);
  void accept(const UcxListener& listener, const UcxHello& hello);
  int claimed_socket(const UcxListener& listener, const UcxHello& hello) const;
  void progress_workers();
  void advance_lanes();
  std::size_t take_pending(std::span<TransportEvent> out);

  TransportCapabilities capabilities_;
  const TransportOptions options_;
  const Fd epoll_;
  std::map<std::string, std::shared_ptr<UcxContext>> contexts_;  // for dialling, by local host
  UcxOpPool ops_;                                                // outlives the workers, which may call back late
  std::vector<std::shared_ptr<UcxWorker>> workers_;              // of listeners and of dialled lanes
  std::vector<std::unique_ptr<UcxListener>> listeners_;
  LaneId next_lane_ = 1;
  std::map<LaneId, std::unique_ptr<UcxLane>> lanes_;
  RingQueue<TransportEvent> pending_;
  LogThrottle refusals_;
  bool is_busy_ = false;  // UCX had something to do when it was last asked
};

// Connections are dropped first, so that the peers learn of it and UCX lets go of every buffer.
UcxTransport::~UcxTransport() {
  const UcxLogCapture capture;
  for (auto& [id, lane] : lanes_) lane->end(aborted("the transport ends"), Status());
  const TimePoint limit = SteadyClock::instance().now() + kCloseLimit;
  while (!lanes_.empty() && SteadyClock::instance().now() < limit) {
    progress_workers();
    advance_lanes();
  }
  for (auto& [id, lane] : lanes_) (void)lane.release();  // UCX still points to it: it is leaked rather than corrupted
}

UcxLane* UcxTransport::find(LaneId id) const {
  const auto found = lanes_.find(id);
  return found == lanes_.end() ? nullptr : found->second.get();
}

UcxLane& UcxTransport::add_lane(bool accepted, std::shared_ptr<UcxWorker> worker) {
  const LaneId id = next_lane_++;
  auto lane = std::make_unique<UcxLane>(id, accepted, std::move(worker), &ops_, options_.lane_buffer_bytes);
  return *lanes_.emplace(id, std::move(lane)).first->second;
}

Status UcxTransport::watch(std::shared_ptr<UcxWorker> worker) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, worker->wait_fd(), &event) != 0) {
    return unavailable("cannot watch a worker of UCX: {}", errno_message(errno));
  }
  workers_.push_back(std::move(worker));
  return Status();
}

Result<std::string> UcxTransport::listen(const ListenOptions& options) {
  const UcxLogCapture capture;
  ISTHMUS_ASSIGN_OR_RETURN(auto listener, UcxListener::create(options, options_));
  ISTHMUS_RETURN_IF_ERROR(watch(listener->worker()));
  listeners_.push_back(std::move(listener));
  return listeners_.back()->address();
}

// ---------------------------------------------------------------------------------------------------- opening lanes

Result<LaneId> UcxTransport::connect(std::string_view address, std::string_view greeting) {
  const UcxLogCapture capture;
  if (greeting.size() > kMaxGreetingBytes) {
    return invalid_argument("a greeting of {} bytes; at most {} travel", greeting.size(), kMaxGreetingBytes);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const UcxAddress remote, UcxAddress::parse(address));
  const auto worker = make_dialling_worker(remote.place);
  UcxLane& lane = add_lane(false, worker.ok() ? *worker : nullptr);
  lane.remote_address = remote.place.text();
  const Status dialled = worker.ok() ? dial(lane, **worker, remote, greeting) : worker.status();
  if (!dialled.ok()) lane.fail(dialled.with_context("cannot open a " + lane.describe()));
  return lane.id();
}

Result<std::shared_ptr<UcxWorker>> UcxTransport::make_dialling_worker(const SocketAddress& remote) {
  ISTHMUS_ASSIGN_OR_RETURN(const SocketAddress local, local_address_towards(remote));
  std::shared_ptr<UcxContext>& context = contexts_[local.host()];
  if (!context) {
    ISTHMUS_ASSIGN_OR_RETURN(context, UcxContext::create({local}, options_));
  }
  ISTHMUS_ASSIGN_OR_RETURN(auto worker, UcxWorker::create(context, options_));
  ISTHMUS_RETURN_IF_ERROR(watch(worker));
  return worker;
}

// UCX begins to connect while it makes the endpoint: the socket that it opens then is the lane's.
Status UcxTransport::dial(UcxLane& lane, const UcxWorker& worker, const UcxAddress& address,
                          std::string_view greeting) {
  const std::set<int> before = tcp_sockets();
  ISTHMUS_RETURN_IF_ERROR(lane.open(address.worker));
  const int socket = find_dialled_socket(before, address.place);
  lane.adopt_socket(socket, options_);
  const auto local = SocketAddress::local_of(socket);
  if (local.ok()) lane.local_address = local->text();
  UcxHello hello;
  hello.greeting = greeting;
  hello.worker = worker.address();
  hello.place = lane.local_address;
  lane.say_hello(std::move(hello));
  return Status();
}

// A hello is not authentic: who names the connection of another lane must not get a hand on it.
int UcxTransport::claimed_socket(const UcxListener& listener, const UcxHello& hello) const {
  const auto remote = SocketAddress::parse(hello.place);
  const int socket = remote.ok() ? find_lane_socket(listener.worker()->place(), *remote) : -1;
  const bool is_taken = std::any_of(lanes_.begin(), lanes_.end(),
                                    [socket](const auto& entry) { return entry.second->socket() == socket; });
  return is_taken ? -1 : socket;
}

void UcxTransport::accept(const UcxListener& listener, const UcxHello& hello) {
  UcxLane& lane = add_lane(true, listener.worker());
  lane.local_address = listener.worker()->place().text();
  lane.remote_address = hello.place;
  if (const Status opened = lane.open(hello.worker); !opened.ok()) {
    refusals_.warn(SteadyClock::instance().now(), "a lane that a peer opens is refused: {}", opened.to_string());
    lanes_.erase(lane.id());
    return;
  }
  lane.adopt_socket(claimed_socket(listener, hello), options_);
  lane.say_welcome(hello.lane_tag);
  TransportEvent event;
  event.kind = TransportEventKind::kLaneAccepted;
  event.lane = lane.id();
  event.greeting = hello.greeting;
  pending_.push(std::move(event));
}

// ---------------------------------------------------------------------------------------------------- messages

PostResult UcxTransport::send(LaneId id, ConstBytes message, std::uint64_t token) {
  const UcxLogCapture capture;
  UcxLane* lane = find(id);
  return lane == nullptr || lane->is_ending() ? PostResult::kDown : lane->send(message, token);
}

PostResult UcxTransport::receive(LaneId id, MutableBytes buffer, std::uint64_t token) {
  const UcxLogCapture capture;
  UcxLane* lane = find(id);
  return lane == nullptr || lane->is_ending() ? PostResult::kDown : lane->receive(buffer, token);
}

std::size_t UcxTransport::progress(std::span<TransportEvent> out) {
  const UcxLogCapture capture;
  std::size_t count = take_pending(out);
  if (count == out.size() && count != 0) return count;
  progress_workers();
  UcxHello hello;
  for (const auto& listener : listeners_) {
    while (listener->next_hello(&hello)) accept(*listener, hello);
  }
  advance_lanes();
  return count + take_pending(out.subspan(count));
}

void UcxTransport::progress_workers() {
  unsigned count = 0;
  for (const auto& worker : workers_) count += ucp_worker_progress(worker->get());
  is_busy_ = count != 0;
}

void UcxTransport::advance_lanes() {
  bool any_over = false;
  for (auto& [id, lane] : lanes_) {
    lane->advance(&pending_);
    any_over |= lane->is_over();
  }
  if (!any_over) return;
  std::erase_if(lanes_, [](const auto& entry) { return entry.second->is_over(); });
  std::erase_if(workers_, [](const auto& worker) { return worker.use_count() == 1; });  // its only lane is gone
}

std::size_t UcxTransport::take_pending(std::span<TransportEvent> out) {
  std::size_t count = 0;
  while (count < out.size() && !pending_.empty()) out[count++] = pending_.pop();
  return count;
}

// Lanes that are ending, or that failed within a call of ours, are waited for by calls of progress().
bool UcxTransport::arm() {
  const UcxLogCapture capture;
  if (!pending_.empty() || is_busy_) return false;
  for (const auto& [id, lane] : lanes_) {
    if (lane->needs_progress()) return false;
  }
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return ucp_worker_arm(worker->get()) == UCS_OK; });
}

void UcxTransport::close(LaneId id) {
  const UcxLogCapture capture;
  if (UcxLane* lane = find(id)) lane->end(aborted("the lane was closed"), Status());
}

void UcxTransport::limit_rate(LaneId id, double bytes_per_sec) {
  const UcxLane* lane = find(id);
  if (lane != nullptr && lane->is_up()) lane->limit_rate(bytes_per_sec);
}

std::uint64_t UcxTransport::retransmissions(LaneId id) const {
  const UcxLane* lane = find(id);
  return lane != nullptr && lane->is_up() ? lane->retransmissions() : 0;
}

LaneInfo UcxTransport::lane_info(LaneId id) const {
  const UcxLane* lane = find(id);
  if (lane == nullptr || !lane->is_up()) return {};
  LaneInfo info{lane->local_address, lane->remote_address, {}};
  const auto local = SocketAddress::parse(lane->local_address);
  const auto remote = SocketAddress::parse(lane->remote_address);
  if (local.ok() && remote.ok()) info.congestion = congestion_of(find_lane_socket(*local, *remote));
  return info;
}

}  // namespace

Result<std::unique_ptr<Transport>> make_ucx_transport(const TransportOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(load_ucx());
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return unavailable("cannot make an epoll descriptor: {}", errno_message(errno));
  return std::unique_ptr<Transport>(std::make_unique<UcxTransport>(std::move(epoll), options));
}

}  // namespace isthmus
