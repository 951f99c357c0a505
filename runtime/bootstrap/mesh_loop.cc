// The mesh's own thread. See mesh_thread.h.
#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/bootstrap/mesh_thread.h"

namespace isthmus {
namespace {

// New connections: every kDialInterval, and every kSlowDialInterval once that went on for kFastDialling. An attempt
// that hangs (a lost SYN is sent again after a second) does not keep the next one from being made.
constexpr Duration kDialInterval = std::chrono::milliseconds(250);
constexpr Duration kSlowDialInterval = std::chrono::seconds(1);
constexpr Duration kFastDialling = std::chrono::seconds(10);
constexpr std::size_t kMaxAttempts = 8;  // at once, per peer; the oldest makes room
// How long another attempt waits with its hello for the answer to the last one: two could each be dropped for the
// other.
constexpr Duration kGreetPatience = std::chrono::seconds(1);
// Whoever has not greeted, or been greeted, by then is closed.
constexpr Duration kGreetLimit = std::chrono::seconds(5);
// A peer that probes is dialled for this long.
constexpr Duration kAskedFor = std::chrono::seconds(2);
// While a peer is waited for, the thread looks at it no more often.
constexpr Duration kIdleTick = std::chrono::milliseconds(10);
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);  // after a failed accept (no descriptors are left)
// Processes that have dialled this one before a group with them was formed here.
constexpr std::ptrdiff_t kMaxUnnamedPeers = 1024;

TimePoint now() { return SteadyClock::instance().now(); }

MeshMessage message_of(MeshMessageKind kind) {
  MeshMessage message;
  message.kind = kind;
  return message;
}

// Somebody answers at the address, and it is not the peer.
bool is_somebody_else(StatusCode code) {
  return code == StatusCode::kInvalidArgument || code == StatusCode::kUnsupported || code == StatusCode::kCorruption ||
         code == StatusCode::kAborted;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- connections

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
    if (stream.ok() && *stream == nullptr) return;
    const std::uint64_t key = next_key_++;
    const Status status = stream.ok() ? poller_.add((*stream)->fd(), key, false) : stream.status();
    if (!status.ok()) {
      log_warning("a control connection was not accepted: {}", status.to_string());
      poller_.remove(listener.socket->fd());
      listener.accept_again = now() + kAcceptPause;
      return;
    }
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
  const bool wants_write = !*flushed && connection.stream->wants_write();
  if (wants_write != connection.wants_write) {
    connection.wants_write = wants_write;
    const Status status = poller_.change(connection.stream->fd(), key, wants_write);
    if (!status.ok()) return close_connection(key, status);
  }
  if (!*flushed || connection.stands) return;
  connection.stands = true;
  connection.greet_by = now() + kGreetLimit;
  greet(connection.peer, peers_.at(connection.peer));
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

void MeshThread::close_connection(std::uint64_t key, const Status& why) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  const Connection connection = std::move(found->second);
  poller_.remove(connection.stream->fd());
  connections_.erase(found);
  const auto entry = peers_.find(connection.peer);
  if (entry == peers_.end()) {
    if (why.code() == StatusCode::kInvalidArgument) {  // it speaks TLS, and this side does not
      std::lock_guard lock(mutex_);
      stranger_error_ = why;
    }
    if (!why.ok()) log_debug("a control connection ended before its greeting: {}", why.to_string());
    return;
  }
  Peer& peer = entry->second;
  if (peer.connection == key) return connection_lost(peer, why);
  if (peer.greeting == key) peer.greeting = 0;
  const bool was_attempt = std::erase(peer.attempts, key) > 0;
  if (was_attempt && !why.ok()) attempt_failed(entry->first, peer, connection.address, connection.stands, why);
  if (was_attempt && peer.greeting == 0) greet(entry->first, peer);
}

void MeshThread::refuse(std::uint64_t key, const std::string& why) {
  MeshMessage refusal = message_of(MeshMessageKind::kRefusal);
  refusal.text = why;
  send_to(key, refusal);
  if (connections_.contains(key)) close_connection(key, unavailable("{}", why));
}

// ---------------------------------------------------------------------------------------------------- greetings

void MeshThread::on_stream_message(std::uint64_t key, const MeshMessage& message) {
  const Connection& connection = connections_.at(key);
  const bool is_open = !connection.is_greeted;
  if (message.kind == MeshMessageKind::kHello && is_open && !connection.is_dialler) return on_hello(key, message);
  if (message.kind == MeshMessageKind::kProbe && is_open && !connection.is_dialler) return on_probe(key, message);
  if (message.kind == MeshMessageKind::kRefusal && is_open && connection.is_dialler) {
    const bool is_version = message.version != kProtocolVersion;
    return close_connection(key, is_version ? unsupported("{}", message.text) : aborted("{}", message.text));
  }
  if (message.version != kProtocolVersion)
    return close_connection(
        key, unsupported("peer speaks protocol version {}, this side {}", message.version, kProtocolVersion));
  if (message.kind == MeshMessageKind::kWelcome && is_open && connection.said_hello) return on_welcome(key, message);
  if (message.kind == MeshMessageKind::kAlive && is_open && connection.is_dialler)
    return close_connection(key, Status());  // it is there, and dials
  if (is_open) return close_connection(key, corruption("a control message before the greeting"));
  on_peer_message(connection.peer, message);
}

bool MeshThread::is_for_us(std::uint64_t key, const MeshMessage& message) {
  if (message.version != kProtocolVersion) {
    {
      std::lock_guard lock(mutex_);
      stranger_error_ =
          unsupported("a peer that speaks protocol version {}, this side {}", message.version, kProtocolVersion);
    }
    log_warning("a control connection was refused: {}", stranger_error_.message());
    refuse(key, fmt::format("this side speaks protocol version {}, the peer {}", kProtocolVersion, message.version));
    return false;
  }
  if (message.number != self_ || message.process == self_ || message.process == 0) {
    refuse(key, "another process listens here");
    return false;
  }
  const auto known = peers_.find(message.process);
  const bool is_known = known != peers_.end();
  if (is_known && (known->second.state == PeerState::kDead || known->second.state == PeerState::kGone)) {
    refuse(key, "this process was declared dead, or has said goodbye");  // it must not think it still belongs
    return false;
  }
  const auto is_unnamed = [](const auto& item) { return item.second.name.empty(); };
  if (!is_known && std::count_if(peers_.begin(), peers_.end(), is_unnamed) >= kMaxUnnamedPeers) {
    refuse(key, "too many unknown processes");
    return false;
  }
  return true;
}

void MeshThread::on_hello(std::uint64_t key, const MeshMessage& message) {
  if (!is_for_us(key, message)) return;
  if (message.process > self_) return refuse(key, "of two processes the one with the smaller id dials");
  const auto exported = PairSecret::exported(*connections_.at(key).stream, message.process, self_);
  if (!exported.ok()) return close_connection(key, exported.status());
  MeshMessage welcome = message_of(MeshMessageKind::kWelcome);
  {
    std::lock_guard lock(mutex_);
    Result<std::string> text = peers_[message.process].secret.answer_hello(message.text, *exported);
    if (text.ok()) welcome.text = std::move(*text);
    if (!text.ok()) welcome.kind = MeshMessageKind::kRefusal;
  }
  if (welcome.kind == MeshMessageKind::kRefusal)
    return refuse(key, "the two sides have different secrets for the pair");
  send_to(key, welcome);
  if (connections_.contains(key)) adopt(key, message.process);
}

// The peer hears nothing of this side, or has lost the connection.
void MeshThread::on_probe(std::uint64_t key, const MeshMessage& message) {
  if (!is_for_us(key, message)) return;
  send_to(key, message_of(MeshMessageKind::kAlive));
  const auto known = peers_.find(message.process);
  if (known == peers_.end()) return;
  known->second.asked_until = now() + kAskedFor;
}

void MeshThread::on_welcome(std::uint64_t key, const MeshMessage& message) {
  const ProcessId process = connections_.at(key).peer;
  const auto exported = PairSecret::exported(*connections_.at(key).stream, self_, process);
  if (!exported.ok()) return close_connection(key, exported.status());
  Status taken;
  {
    std::lock_guard lock(mutex_);
    taken = peers_.at(process).secret.take_welcome(message.text, *exported);
  }
  if (!taken.ok()) return close_connection(key, taken);
  adopt(key, process);
}

// The connection is the peer's from now on; an older one (lost or silent) is dropped, and so are other attempts.
void MeshThread::adopt(std::uint64_t key, ProcessId process) {
  Connection& connection = connections_.at(key);
  connection.peer = process;
  connection.is_greeted = true;
  connection.greet_by = kNever;
  std::vector<std::uint64_t> dropped;
  Peer* adopted;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[process];
    adopted = &peer;
    dropped.swap(peer.attempts);
    dropped.push_back(std::exchange(peer.connection, key));
    peer.state = PeerState::kConnected;
    peer.heard_at = now();
    peer.greeting = 0;
    peer.refused.clear();
    peer.hopeless.clear();
    peer.dialling_since = kNever;
    peer.asked_until = TimePoint::min();
    peer.is_suspect = false;
    peer.last_error = Status();
    changed_.notify_all();
  }
  note_silence(process, *adopted, false);
  for (std::uint64_t old : dropped)
    if (old != key) close_connection(old, Status());
  if (is_leaving_) send_to(key, message_of(MeshMessageKind::kGoodbye));
}

// ---------------------------------------------------------------------------------------------------- dialling

bool MeshThread::should_dial(ProcessId process, const Peer& peer, TimePoint time) const {
  if (is_leaving_ || peer.addresses.empty() || time < peer.dial_at) return false;
  if (peer.state == PeerState::kWanted) return self_ < process;
  return peer.connection == 0 || peer.is_silent || (self_ < process && time < peer.asked_until);
}

void MeshThread::dial(ProcessId process, Peer& peer, TimePoint time) {
  if (peer.dialling_since == kNever) peer.dialling_since = time;
  const bool is_fast = time - peer.dialling_since < kFastDialling && peer.state == PeerState::kConnected;
  peer.dial_at = time + (is_fast ? kDialInterval : kSlowDialInterval);
  if (peer.attempts.size() >= kMaxAttempts) close_connection(peer.attempts.front(), Status());
  const std::size_t index = peer.next_address++ % peer.addresses.size();
  Result<std::unique_ptr<ControlStream>> stream = network_->dial(peer.addresses[index]);
  const std::uint64_t key = next_key_++;
  const Status status = stream.ok() ? poller_.add((*stream)->fd(), key, true) : stream.status();
  if (!status.ok()) return attempt_failed(process, peer, index, false, status.with_context(peer.addresses[index]));
  Connection& connection = connections_[key];
  connection.stream = std::move(*stream);
  connection.peer = process;
  connection.address = index;
  connection.is_dialler = connection.wants_write = true;
  connection.greet_by = time + kGreetLimit;
  peer.attempts.push_back(key);
  write_to(key);
}

// Says hello, or probes, on an attempt that stands and has not.
void MeshThread::greet(ProcessId process, Peer& peer) {
  const bool is_probing = self_ > process;
  if (!is_probing && peer.greeting != 0 && now() - peer.greeted_at < kGreetPatience) return;
  for (auto attempt = peer.attempts.rbegin(); attempt != peer.attempts.rend(); ++attempt) {
    Connection& connection = connections_.at(*attempt);
    if (!connection.stands || connection.said_hello) continue;
    connection.said_hello = true;
    MeshMessage hello = message_of(is_probing ? MeshMessageKind::kProbe : MeshMessageKind::kHello);
    hello.process = self_;
    hello.number = process;
    if (!is_probing) {
      hello.text = peer.secret.hello();
      peer.greeting = *attempt;
      peer.greeted_at = now();
    }
    return send_to(*attempt, hello);
  }
}

// `stood`: somebody was there.
void MeshThread::attempt_failed(ProcessId process, Peer& peer, std::size_t address, bool stood, const Status& why) {
  bool is_death;
  {
    std::lock_guard lock(mutex_);
    peer.last_error = why;
    if ((!stood && why.code() == StatusCode::kUnavailable) || is_somebody_else(why.code()))
      peer.refused.insert(address);
    if (why.code() == StatusCode::kInvalidArgument || why.code() == StatusCode::kUnsupported)
      peer.hopeless.insert(address);
    // While a group forms, the peer is just not there yet.
    if (peer.state == PeerState::kWanted) peer.dial_at = std::min(peer.dial_at, now() + kDialInterval);
    is_death = peer.state == PeerState::kConnected && (peer.connection == 0 || peer.is_silent) &&
               peer.refused.size() >= peer.addresses.size();
    changed_.notify_all();
  }
  if (!is_death || is_leaving_) return;
  declare_dead(
      process,
      unavailable("its control connection ended and {} does not answer: {}", joined(peer.addresses), why.message()),
      true);
}

void MeshThread::connection_lost(Peer& peer, const Status& why) {
  std::lock_guard lock(mutex_);
  if (!why.ok()) peer.last_error = why;
  peer.connection = 0;
  peer.refused.clear();
  peer.next_address = 0;
  peer.dial_at = peer.dialling_since = now();
  changed_.notify_all();
}

// ---------------------------------------------------------------------------------------------------- peers

void MeshThread::declare_dead(ProcessId process, const Status& why, bool tell_others) {
  std::vector<std::uint64_t> dropped;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[process];
    if (peer.state == PeerState::kDead || peer.state == PeerState::kGone) return;
    peer.state = PeerState::kDead;
    peer.last_error = why;
    dropped.swap(peer.attempts);
    dropped.push_back(std::exchange(peer.connection, 0));
    changed_.notify_all();
  }
  for (std::uint64_t key : dropped) close_connection(key, why);
  log_info("{} is dead: {}", peers_[process].name, why.message());
  handler_->on_peer_dead(process, why);
  if (!tell_others) return;
  MeshMessage message = message_of(MeshMessageKind::kDeath);
  message.process = self_;
  message.number = next_flood_++;
  message.subject = process;
  message.text = why.message();
  (void)flooded_.is_new(message.process, message.number);
  flood(message, 0);
}

void MeshThread::flood(const MeshMessage& message, ProcessId except) {
  std::vector<std::uint64_t> to;
  for (const auto& [process, peer] : peers_)
    if (process != except && process != message.process && peer.connection != 0) to.push_back(peer.connection);
  for (std::uint64_t key : to) send_to(key, message);
}

void MeshThread::on_flood(ProcessId from, const MeshMessage& message) {
  if (message.process == self_ || !flooded_.is_new(message.process, message.number)) return;
  flood(message, from);
  if (message.kind == MeshMessageKind::kFlood) return handler_->on_message(message.process, message.text);
  if (message.subject == self_) return;  // others are mistaken; they refuse this process from now on
  declare_dead(message.subject, unavailable("{}", message.text), false);
}

void MeshThread::on_peer_message(ProcessId from, const MeshMessage& message) {
  bool said_goodbye = false;
  Peer& peer = peers_.at(from);
  {
    std::lock_guard lock(mutex_);
    peer.heard_at = now();
    peer.is_suspect = false;
    if (message.kind == MeshMessageKind::kPong) pongs_[message.number] = now();
    if (message.kind == MeshMessageKind::kGoodbyeHeard) peer.heard_our_goodbye = true;
    if (message.kind == MeshMessageKind::kGoodbye && peer.state != PeerState::kGone) {
      peer.state = PeerState::kGone;
      said_goodbye = true;
    }
    changed_.notify_all();
  }
  note_silence(from, peer, false);
  MeshMessage answer = message_of(MeshMessageKind::kPong);
  switch (message.kind) {
    case MeshMessageKind::kDirect: handler_->on_message(from, message.text); break;
    case MeshMessageKind::kFlood:
    case MeshMessageKind::kDeath: on_flood(from, message); break;
    case MeshMessageKind::kPing:
      answer.number = message.number;
      send_to(peer.connection, answer);
      break;
    case MeshMessageKind::kGoodbye:
      if (said_goodbye) handler_->on_goodbye(from);
      send_to(peer.connection, message_of(MeshMessageKind::kGoodbyeHeard));
      break;
    default: break;  // heartbeats: hearing them was all
  }
}

void MeshThread::note_silence(ProcessId process, Peer& peer, bool silent) {
  if (peer.is_silent == silent) return;
  peer.is_silent = silent;
  peer.refused.clear();
  peer.dialling_since = silent ? now() : kNever;
  if (silent) {
    peer.dial_at = now();
    peer.silent_since = peer.heard_at;
    log_debug("a heartbeat of {} is missing", peer.name);
  } else if (const Duration length = now() - peer.silent_since; length >= options_.suspect_after) {
    log_info("{} was heard again after {:.1f} s", peer.name, to_seconds(length));
  }
  handler_->on_path_silent(process, silent);
}

void MeshThread::watch_peer(ProcessId process, Peer& peer, TimePoint time, bool beats) {
  if (peer.connection != 0 && beats) send_to(peer.connection, MeshMessage());
  const Duration silent = time - peer.heard_at;
  if (silent >= options_.link_grace)
    return declare_dead(
        process,
        unavailable("silent for {:.1f} s (limit {:.1f} s){}", to_seconds(silent), to_seconds(options_.link_grace),
                    peer.last_error.ok() ? "" : "; last error: " + peer.last_error.message()),
        true);
  if (silent >= silent_after_) note_silence(process, peer, true);
  if (silent >= options_.suspect_after && !peer.is_suspect) {
    peer.is_suspect = true;
    handler_->on_peer_suspect(process, peer.name, silent);
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
    Peer& peer = peers_.at(process);
    if (peer.state == PeerState::kConnected) watch_peer(process, peer, time, beats);
    if (peer.state == PeerState::kDead || peer.state == PeerState::kGone) continue;
    if (should_dial(process, peer, time)) dial(process, peer, time);
    if (!peer.attempts.empty()) greet(process, peer);
  }
  std::vector<std::uint64_t> late;
  for (const auto& [key, connection] : connections_)
    if (time >= connection.greet_by) late.push_back(key);
  for (std::uint64_t key : late)
    close_connection(key, deadline_exceeded("no greeting within {:.0f} s", to_seconds(kGreetLimit)));
  for (auto& [key, listener] : listeners_) {
    if (time < listener.accept_again) continue;
    const Status status = poller_.add(listener.socket->fd(), key, false);
    listener.accept_again = status.ok() ? kNever : time + kAcceptPause;
  }
}

TimePoint MeshThread::next_tick() const {
  TimePoint due = beat_at_;
  const TimePoint soon = now() + kIdleTick;
  for (const auto& [process, peer] : peers_) {
    const bool is_connected = peer.state == PeerState::kConnected;
    if (is_connected && !peer.is_silent) due = std::min(due, std::max(peer.heard_at + silent_after_, soon));
    const bool waits = peer.state == PeerState::kWanted || (is_connected && (peer.connection == 0 || peer.is_silent));
    if (waits && !is_leaving_ && !peer.addresses.empty()) due = std::min(due, std::max(peer.dial_at, soon));
  }
  return due;
}

}  // namespace isthmus
