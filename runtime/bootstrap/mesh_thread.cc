#include "runtime/bootstrap/mesh_thread.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/base/thread.h"

namespace isthmus {
namespace {

TimePoint now() { return SteadyClock::instance().now(); }

}  // namespace

std::string MeshThread::joined(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& address : addresses) text += (text.empty() ? "" : ", ") + address;
  return text.empty() ? "no address" : text;
}

MeshThread::MeshThread(const PeerMeshOptions& options, ControlNetwork* network, ProcessId self,
                       PeerMeshHandler* handler)
    : options_(options),
      network_(network),
      self_(self),
      handler_(handler),
      silent_after_(options.heartbeat_interval +
                    std::max<Duration>(options.heartbeat_interval, std::chrono::milliseconds(300))) {}

Result<std::unique_ptr<PeerMesh>> PeerMesh::create(const PeerMeshOptions& options, ControlNetwork* network,
                                                   ProcessId self, PeerMeshHandler* handler) {
  auto mesh = std::make_unique<MeshThread>(options, network, self, handler);
  ISTHMUS_RETURN_IF_ERROR(mesh->start());
  return std::unique_ptr<PeerMesh>(std::move(mesh));
}

Status MeshThread::start() {
  ISTHMUS_ASSIGN_OR_RETURN(wake_, WakeFd::create());
  ISTHMUS_ASSIGN_OR_RETURN(poller_, Poller::create());
  ISTHMUS_RETURN_IF_ERROR(poller_.add(wake_.get(), kWakeKey, false));
  ISTHMUS_ASSIGN_OR_RETURN(thread_, start_thread("isthmus-mesh", [this] { run(); }));
  return Status();
}

MeshThread::~MeshThread() {
  if (fork_guard_.in_child()) {  // neither the thread nor the sockets are ours
    thread_.detach();
    for (auto& [key, connection] : connections_) (void)connection.stream.release();
    for (auto& [key, listener] : listeners_) (void)listener.socket.release();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.signal();
  if (thread_.joinable()) thread_.join();
}

void MeshThread::post(std::function<void()> fn) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(fn));
  }
  wake_.signal();
}

template <typename Done>
bool MeshThread::wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline, Done done) {
  if (deadline == kNever) deadline = now() + std::chrono::hours(24);  // the condition variable's clock overflows
  return changed_.wait_until(lock, deadline, done);
}

Result<std::string> MeshThread::listen(const std::string& host, const std::string& advertised_host,
                                       std::uint16_t port_low, std::uint16_t port_high) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the peer mesh"));
  ISTHMUS_ASSIGN_OR_RETURN(auto made, network_->listen(host, advertised_host, port_low, port_high));
  const std::string address = made->address();
  auto shared = std::make_shared<std::unique_ptr<ControlListener>>(std::move(made));
  post([this, shared] {
    const std::uint64_t key = next_key_++;
    const Status status = poller_.add((*shared)->fd(), key, false);
    if (!status.ok()) log_error("a control listener cannot be polled: {}", status.to_string());
    listeners_[key].socket = std::move(*shared);
  });
  return address;
}

Status MeshThread::connect(const std::vector<ProcessInfo>& peers, const std::vector<std::string>& names,
                           TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the peer mesh"));
  post([this, peers, names] {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      Peer& peer = peers_[peers[i].process];
      peer.name = names[i];
      if (peer.addresses.empty()) peer.addresses = peers[i].control_addresses;
    }
  });
  const auto peer_of = [&](std::size_t i) -> Peer* {
    const auto found = peers_.find(peers[i].process);
    return found == peers_.end() ? nullptr : &found->second;
  };
  std::size_t failed = 0;
  std::unique_lock lock(mutex_);
  const bool all = wait_until(lock, deadline, [&] {
    for (failed = 0; failed < peers.size(); ++failed) {
      const Peer* peer = peer_of(failed);
      if (peer != nullptr && peer->state == PeerState::kWanted && !peer->addresses.empty() &&
          peer->hopeless.size() == peer->addresses.size())
        return true;
      if (peer == nullptr || peer->state == PeerState::kWanted) return false;
      if (peer->state != PeerState::kConnected) return true;
    }
    return true;
  });
  if (all && failed == peers.size()) return Status();
  const Peer* peer = peer_of(failed);
  if (peer == nullptr) return deadline_exceeded("no control connection to {}", names[failed]);
  const std::string tried = joined(peers[failed].control_addresses);
  if (!all)
    return deadline_exceeded("no control connection to {} in time; {} {}; last error: {}{}", names[failed],
                             self_ < peers[failed].process ? "dialled" : "waited to be dialled by it; it is at", tried,
                             peer->last_error.ok() ? "none" : peer->last_error.message(),
                             stranger_error_.ok() ? "" : "; meanwhile refused: " + stranger_error_.message());
  if (!peer->last_error.ok()) return peer->last_error.with_context(names[failed]);
  return unavailable("{} ({}) has gone", names[failed], tried);
}

void MeshThread::send(ProcessId to, std::string_view text) {
  if (fork_guard_.in_child()) return;
  post([this, to, text = std::string(text)] {
    const auto found = peers_.find(to);
    if (found == peers_.end() || found->second.connection == 0) return;
    MeshMessage message;
    message.kind = MeshMessageKind::kDirect;
    message.text = text;
    send_to(found->second.connection, message);
  });
}

void MeshThread::broadcast(std::string_view text) {
  if (fork_guard_.in_child()) return;
  post([this, text = std::string(text)] {
    MeshMessage message;
    message.kind = MeshMessageKind::kFlood;
    message.process = self_;
    message.number = next_flood_++;
    message.text = text;
    (void)flooded_.is_new(message.process, message.number);
    flood(message, 0);
  });
}

Result<Duration> MeshThread::measure_round_trip(ProcessId peer, int count, TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the peer mesh"));
  std::vector<Duration> trips;
  for (int i = 0; i < count; ++i) {
    std::uint64_t number;
    {
      std::lock_guard lock(mutex_);
      number = next_ping_++;
    }
    const TimePoint sent = now();
    post([this, peer, number] {
      const auto found = peers_.find(peer);
      if (found == peers_.end() || found->second.connection == 0) return;
      MeshMessage ping;
      ping.kind = MeshMessageKind::kPing;
      ping.number = number;
      send_to(found->second.connection, ping);
    });
    std::unique_lock lock(mutex_);
    if (!wait_until(lock, deadline, [&] { return pongs_.contains(number); }))
      return deadline_exceeded("no answer from process {:#x} to a ping", peer);
    trips.push_back(pongs_.at(number) - sent);
    pongs_.erase(number);
  }
  std::sort(trips.begin(), trips.end());
  return trips[trips.size() / 2];
}

Result<Key> MeshThread::link_secret(ProcessId process) {
  std::lock_guard lock(mutex_);
  const auto found = peers_.find(process);
  if (found == peers_.end() || !found->second.secret.key()) {
    return unsupported("there is no secret with process {:#x}: its control connections are plain", process);
  }
  return *found->second.secret.key();
}

void MeshThread::goodbye(TimePoint deadline) {
  if (fork_guard_.in_child()) return;
  post([this] {
    MeshMessage message;
    message.kind = MeshMessageKind::kGoodbye;
    std::vector<std::uint64_t> to;
    for (const auto& [process, peer] : peers_)
      if (peer.connection != 0) to.push_back(peer.connection);
    for (std::uint64_t key : to) send_to(key, message);
    std::lock_guard lock(mutex_);
    is_leaving_ = true;
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  wait_until(lock, deadline, [&] {
    return is_leaving_ && std::all_of(peers_.begin(), peers_.end(), [](const auto& item) {
             return item.second.connection == 0 || item.second.heard_our_goodbye;
           });
  });
}

}  // namespace isthmus
