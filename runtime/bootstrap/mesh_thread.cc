#include "runtime/bootstrap/mesh_thread.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/base/thread.h"

namespace isthmus {
namespace {

constexpr std::uint64_t kWakeKey = 0;
constexpr Duration kRedialInterval = std::chrono::milliseconds(200);
// A stranger that has not greeted by then is closed.
constexpr Duration kGreetLimit = std::chrono::seconds(5);
// A lost peer that answers the telephone but does not come back within this time is dead.
constexpr Duration kComeBackLimit = std::chrono::seconds(2);
// While a peer is waited for, the thread looks at it this often.
constexpr Duration kIdleTick = std::chrono::milliseconds(10);

TimePoint now() { return SteadyClock::instance().now(); }

std::string joined(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& address : addresses) text += (text.empty() ? "" : ", ") + address;
  return text.empty() ? "no address" : text;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- any thread

MeshThread::MeshThread(const PeerMeshOptions& options, ControlNetwork* network, ProcessId self,
                       PeerMeshHandler* handler)
    : options_(options), network_(network), self_(self), handler_(handler) {}

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
      if (peer != nullptr && peer->last_error.code() == StatusCode::kUnsupported) return true;
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
    return deadline_exceeded("no control connection to {} in time; {} {}; last error: {}", names[failed],
                             self_ < peers[failed].process ? "dialled" : "waited to be dialled by it; it is at", tried,
                             peer->last_error.ok() ? "none" : peer->last_error.message());
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

// ---------------------------------------------------------------------------------------------------- the thread

void MeshThread::run() {
  std::vector<std::uint64_t> keys;
  std::vector<std::function<void()>> functions;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_ && posted_.empty()) break;
      functions.swap(posted_);
    }
    for (const auto& fn : functions) fn();
    functions.clear();
    tick();
    keys.clear();
    const Status status = poller_.wait(next_tick(), &keys);
    if (!status.ok()) log_error("the control connections cannot be polled: {}", status.to_string());
    for (std::uint64_t key : keys) handle_ready(key);
  }
  for (auto& [key, connection] : connections_) poller_.remove(connection.stream->fd());
  connections_.clear();
  for (auto& [key, listener] : listeners_) poller_.remove(listener.socket->fd());
  listeners_.clear();
}

void MeshThread::handle_ready(std::uint64_t key) {
  if (key == kWakeKey) return wake_.drain();
  if (const auto listener = listeners_.find(key); listener != listeners_.end()) return accept_from(listener->second);
  if (connections_.contains(key)) write_to(key);
  if (connections_.contains(key)) read_from(key);
}

void MeshThread::accept_from(Listener& listener) {
  for (;;) {
    Result<std::unique_ptr<ControlStream>> stream = listener.socket->accept();
    if (!stream.ok()) return log_warning("a control connection was not accepted: {}", stream.status().to_string());
    if (*stream == nullptr) return;
    const std::uint64_t key = next_key_++;
    const Status status = poller_.add((*stream)->fd(), key, false);
    if (!status.ok()) return log_warning("a control connection was not accepted: {}", status.to_string());
    Connection& connection = connections_[key];
    connection.stream = std::move(*stream);
    connection.stands = true;
    connection.greet_by = now() + kGreetLimit;
  }
}

void MeshThread::send_to(std::uint64_t key, const MeshMessage& message) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  const Status status = found->second.stream->send(encode_mesh_message(message));
  if (status.ok()) write_to(key);  // a failure shows when the stream is read
}

void MeshThread::write_to(std::uint64_t key) {
  Connection& connection = connections_.at(key);
  const Result<bool> flushed = connection.stream->flush();
  if (!flushed.ok()) return close_connection(key, flushed.status());
  if (*flushed && !connection.stands) {
    // Two connections at once could each be dropped for the other, so only the smaller id makes one. A larger id has
    // dialled to learn whether anyone is there, and now waits to be dialled.
    if (self_ > connection.peer) return close_connection(key, Status());
    connection.stands = true;
    connection.greet_by = now() + kGreetLimit;
    MeshMessage hello;
    hello.kind = MeshMessageKind::kHello;
    hello.process = self_;
    hello.number = connection.peer;
    return send_to(key, hello);
  }
  if (connection.wants_write == !*flushed) return;
  connection.wants_write = !*flushed;
  const Status status = poller_.change(connection.stream->fd(), key, connection.wants_write);
  if (!status.ok()) close_connection(key, status);
}

void MeshThread::read_from(std::uint64_t key) {
  std::string bytes;
  for (;;) {
    const auto found = connections_.find(key);
    if (found == connections_.end() || !found->second.stands) return;
    const Result<bool> got = found->second.stream->receive(&bytes);
    if (!got.ok()) return close_connection(key, got.status());
    if (!*got) return;
    const Result<MeshMessage> message = decode_mesh_message(bytes);
    if (!message.ok()) return close_connection(key, message.status());
    on_stream_message(key, *message);
  }
}

void MeshThread::on_stream_message(std::uint64_t key, const MeshMessage& message) {
  Connection& connection = connections_.at(key);
  if (message.kind == MeshMessageKind::kHello && !connection.is_dialler) return on_hello(key, message);
  if (message.kind == MeshMessageKind::kRefusal && connection.is_dialler && !connection.is_greeted) {
    const Status why =
        message.version != kProtocolVersion ? unsupported("{}", message.text) : unavailable("{}", message.text);
    return close_connection(key, why);
  }
  if (message.version != kProtocolVersion)
    return close_connection(
        key, unsupported("peer speaks protocol version {}, this side {}", message.version, kProtocolVersion));
  if (message.kind == MeshMessageKind::kWelcome && connection.is_dialler) return on_welcome(key);
  if (!connection.is_greeted) return close_connection(key, corruption("a control message before the greeting"));
  on_peer_message(connection.peer, message);
}

void MeshThread::refuse(std::uint64_t key, const std::string& why) {
  MeshMessage refusal;
  refusal.kind = MeshMessageKind::kRefusal;
  refusal.text = why;
  send_to(key, refusal);
  if (connections_.contains(key)) close_connection(key, unavailable("{}", why));
}

void MeshThread::on_hello(std::uint64_t key, const MeshMessage& message) {
  if (message.version != kProtocolVersion) {
    const std::string why =
        fmt::format("peer speaks protocol version {}, this side {}", message.version, kProtocolVersion);
    log_warning("a control connection was refused: {}", why);
    return refuse(key,
                  fmt::format("this side speaks protocol version {}, the peer {}", kProtocolVersion, message.version));
  }
  if (message.number != self_) return refuse(key, "another process listens here");
  const auto known = peers_.find(message.process);
  if (known != peers_.end() && (known->second.state == PeerState::kDead || known->second.state == PeerState::kGone))
    return refuse(key, "this process was declared dead, or has said goodbye");  // it must not think it still belongs
  MeshMessage welcome;
  welcome.kind = MeshMessageKind::kWelcome;
  send_to(key, welcome);
  if (connections_.contains(key)) adopt(key, message.process);
}

void MeshThread::on_welcome(std::uint64_t key) { adopt(key, connections_.at(key).peer); }

// The connection is the peer's from now on; an older one (lost, and not noticed here yet) is dropped.
void MeshThread::adopt(std::uint64_t key, ProcessId process) {
  Connection& connection = connections_.at(key);
  connection.peer = process;
  connection.is_greeted = true;
  connection.greet_by = kNever;
  std::uint64_t old;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[process];
    if (peer.name.empty()) peer.name = fmt::format("process {:#x}", process);
    old = std::exchange(peer.connection, key);
    peer.dialling = 0;
    peer.state = PeerState::kConnected;
    peer.was_connected = true;
    peer.last_heard = now();
    peer.lost_at = kNever;
    peer.is_suspect = false;
    peer.last_error = Status();
    changed_.notify_all();
  }
  if (old != 0 && old != key) close_connection(old, Status());
  if (is_leaving_) {
    MeshMessage message;
    message.kind = MeshMessageKind::kGoodbye;
    send_to(key, message);
  }
}

void MeshThread::close_connection(std::uint64_t key, const Status& why) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  const Connection connection = std::move(found->second);
  poller_.remove(connection.stream->fd());
  connections_.erase(found);
  const auto entry = peers_.find(connection.peer);
  if (entry == peers_.end()) {
    if (!why.ok() && connection.stands)
      log_debug("a control connection ended before its greeting: {}", why.to_string());
    return;
  }
  Peer& peer = entry->second;
  if (peer.connection == key) return connection_failed(connection.peer, peer, why, true);
  if (peer.dialling == key) connection_failed(connection.peer, peer, why, false);
}

void MeshThread::connection_failed(ProcessId process, Peer& peer, const Status& why, bool was_standing) {
  bool is_death = false;
  {
    std::lock_guard lock(mutex_);
    if (!why.ok()) peer.last_error = why;
    if (was_standing) {
      peer.connection = 0;
      peer.lost_at = now();
      peer.dial_at = now();
    } else {
      peer.dialling = 0;
      peer.dial_at = now() + kRedialInterval;
      if (!why.ok()) ++peer.next_address;
      // Refused at every address: nobody is there any more. (While a group forms, it is just not there yet.)
      is_death = peer.was_connected && peer.state == PeerState::kConnected &&
                 peer.next_address >= std::max<std::size_t>(1, peer.addresses.size());
    }
    if (was_standing) peer.next_address = 0;
    changed_.notify_all();
  }
  if (is_death && !is_leaving_)
    declare_dead(
        process,
        unavailable("its control connection ended and {} does not answer: {}", joined(peer.addresses), why.message()),
        true);
}

void MeshThread::dial(ProcessId process, Peer& peer) {
  if (peer.addresses.empty()) return;
  const std::string& address = peer.addresses[peer.next_address % peer.addresses.size()];
  Result<std::unique_ptr<ControlStream>> stream = network_->dial(address);
  if (!stream.ok()) return connection_failed(process, peer, stream.status().with_context(address), false);
  const std::uint64_t key = next_key_++;
  const Status status = poller_.add((*stream)->fd(), key, true);
  if (!status.ok()) return connection_failed(process, peer, status, false);
  Connection& connection = connections_[key];
  connection.stream = std::move(*stream);
  connection.peer = process;
  connection.is_dialler = true;
  connection.wants_write = true;
  connection.greet_by = now() + kGreetLimit;
  peer.dialling = key;
  write_to(key);
}

void MeshThread::declare_dead(ProcessId process, const Status& why, bool tell_others) {
  std::uint64_t connection, dialling;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[process];
    if (peer.state == PeerState::kDead || peer.state == PeerState::kGone) return;
    peer.state = PeerState::kDead;
    peer.last_error = why;
    connection = std::exchange(peer.connection, 0);
    dialling = std::exchange(peer.dialling, 0);
    changed_.notify_all();
  }
  close_connection(connection, why);
  close_connection(dialling, why);
  log_info("{} is dead: {}", peers_[process].name, why.message());
  handler_->on_peer_dead(process, why);
  if (!tell_others) return;
  MeshMessage message;
  message.kind = MeshMessageKind::kDeath;
  message.process = self_;
  message.number = next_flood_++;
  message.subject = process;
  message.text = why.message();
  flood(message, 0);
}

void MeshThread::flood(const MeshMessage& message, ProcessId except) {
  if (!flooded_.emplace(message.process, message.number).second) return;
  std::vector<std::uint64_t> to;
  for (const auto& [process, peer] : peers_)
    if (process != except && process != message.process && peer.connection != 0) to.push_back(peer.connection);
  for (std::uint64_t key : to) send_to(key, message);
}

void MeshThread::on_flood(ProcessId from, const MeshMessage& message) {
  if (message.process == self_ || flooded_.contains({message.process, message.number})) return;
  flood(message, from);
  if (message.kind == MeshMessageKind::kFlood) return handler_->on_message(message.process, message.text);
  if (message.subject == self_) return;  // others are mistaken; they refuse this process from now on
  declare_dead(message.subject, unavailable("{}", message.text), false);
}

void MeshThread::on_peer_message(ProcessId from, const MeshMessage& message) {
  MeshMessage answer;
  bool said_goodbye = false;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[from];
    peer.last_heard = now();
    peer.is_suspect = false;
    if (message.kind == MeshMessageKind::kPong) pongs_[message.number] = now();
    if (message.kind == MeshMessageKind::kGoodbyeHeard) peer.heard_our_goodbye = true;
    if (message.kind == MeshMessageKind::kGoodbye && peer.state != PeerState::kGone) {
      peer.state = PeerState::kGone;
      said_goodbye = true;
    }
    changed_.notify_all();
  }
  switch (message.kind) {
    case MeshMessageKind::kDirect: handler_->on_message(from, message.text); break;
    case MeshMessageKind::kFlood:
    case MeshMessageKind::kDeath: on_flood(from, message); break;
    case MeshMessageKind::kPing:
      answer.kind = MeshMessageKind::kPong;
      answer.number = message.number;
      send_to(peers_[from].connection, answer);
      break;
    case MeshMessageKind::kGoodbye:
      if (said_goodbye) handler_->on_goodbye(from);
      answer.kind = MeshMessageKind::kGoodbyeHeard;
      send_to(peers_[from].connection, answer);
      break;
    default: break;  // heartbeats: hearing them was all
  }
}

// Heartbeats, silence, attempts to dial, strangers.
void MeshThread::tick() {
  const TimePoint time = now();
  const bool beats = time >= beat_at_;
  if (beats) beat_at_ = time + options_.heartbeat_interval;
  std::vector<ProcessId> processes;
  for (const auto& [process, peer] : peers_) processes.push_back(process);
  for (ProcessId process : processes) {
    Peer& peer = peers_[process];
    if (peer.state == PeerState::kDead || peer.state == PeerState::kGone) continue;
    if (peer.connection != 0) {
      if (beats) send_to(peer.connection, MeshMessage());
      const Duration silent = time - peer.last_heard;
      if (silent >= options_.link_grace) {
        declare_dead(
            process,
            unavailable("silent for {:.1f} s (limit {:.1f} s)", to_seconds(silent), to_seconds(options_.link_grace)),
            true);
      } else if (silent >= options_.suspect_after && !peer.is_suspect) {
        peer.is_suspect = true;
        handler_->on_peer_suspect(process, silent);
      }
      continue;
    }
    // The smaller id dials; when a connection was lost the other side dials too, to find out whether anyone is there.
    if (is_leaving_ || peer.dialling != 0 || time < peer.dial_at) continue;
    if (peer.lost_at != kNever && time - peer.lost_at > kComeBackLimit)
      declare_dead(process,
                   unavailable("its control connection ended and did not come back: {}", peer.last_error.message()),
                   true);
    else if (self_ < process || peer.lost_at != kNever)
      dial(process, peer);
  }
  std::vector<std::uint64_t> late;
  for (const auto& [key, connection] : connections_)
    if (time >= connection.greet_by) late.push_back(key);
  for (std::uint64_t key : late)
    close_connection(key, unavailable("no greeting within {:.0f} s", to_seconds(kGreetLimit)));
}

TimePoint MeshThread::next_tick() const {
  TimePoint due = beat_at_;
  for (const auto& [process, peer] : peers_) {
    const bool waits = peer.state == PeerState::kWanted || peer.state == PeerState::kConnected;
    if (waits && peer.connection == 0 && peer.dialling == 0 && !is_leaving_ && !peer.addresses.empty())
      due = std::min(due, std::max(peer.dial_at, now() + kIdleTick));
  }
  return due;
}

}  // namespace isthmus
