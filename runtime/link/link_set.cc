#include "runtime/link/link_set.h"

#include <algorithm>
#include <random>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

constexpr std::size_t kEventsPerProgress = 64;
// Lanes of processes that no group of ours has named yet. They hold no buffers; the oldest makes room for a new one.
constexpr std::size_t kMaxStrangers = 256;
constexpr Duration kStrangerLimit = std::chrono::seconds(30);
// A silent path is probed every redial_interval for so long, then once a second.
constexpr Duration kEagerProbing = std::chrono::seconds(10), kPatientInterval = std::chrono::seconds(1);
constexpr int kMaxDoublings = 5;  // of the patience
// A probe that has not come up by then is closed: its next SYN would come later than the next probe.
constexpr Duration kProbeLimit = std::chrono::seconds(1), kDialLimit = std::chrono::seconds(3);

std::uint64_t draw_session() {
  std::random_device device;
  std::uint64_t session = 0;
  while (session == 0) session = std::uint64_t{device()} << 32 | device();
  return session;
}

}  // namespace

LinkSet::LinkSet(const LinkSetOptions& options, const Clock* clock, std::unique_ptr<Transport> transport,
                 ProcessId self, Traffic* traffic, std::function<void(ProcessId, int, bool)> request_dial)
    : options_(options),
      clock_(clock),
      self_(self),
      traffic_(traffic),
      request_dial_(std::move(request_dial)),
      events_(kEventsPerProgress),
      transport_(std::move(transport)) {}

LinkSet::~LinkSet() = default;

Link* LinkSet::get(const LinkPeer& peer) {
  auto& slot = entries_[peer.process];
  if (slot) return slot->link.get();
  slot = std::make_unique<Entry>();
  slot->peer = peer;
  slot->link =
      std::make_unique<Link>(options_.link, clock_, transport_.get(), traffic_, &share_, peer.name, options_.epoch);
  const auto known = std::stable_partition(strangers_.begin(), strangers_.end(),
                                           [&](const Stranger& s) { return s.greeting.greeting.from != peer.process; });
  const std::vector<Stranger> arrived(known, strangers_.end());
  strangers_.erase(known, strangers_.end());
  for (const Stranger& stranger : arrived) adopt(*slot, stranger.lane, stranger.greeting);
  return slot->link.get();
}

std::vector<LinkReport> LinkSet::report() const {
  std::vector<LinkReport> links;
  for (const auto& [process, entry] : entries_) {
    LinkReport& link = links.emplace_back();
    link.peer = entry->peer.name;
    for (LaneId lane : entry->link->lane_ids()) link.lanes.push_back(transport_->lane_info(lane));
  }
  return links;
}

void LinkSet::dial(ProcessId process, int lanes, bool is_silent) {
  const auto found = entries_.find(process);
  if (found == entries_.end()) return;
  found->second->is_wanted = true;
  found->second->lanes_asked_for = std::min(lanes, options_.link.most_lanes + 1);
  if (is_silent) found->second->is_suspect = true;
}

void LinkSet::suspect(ProcessId process, bool is_silent) {
  const auto found = entries_.find(process);
  if (found != entries_.end()) found->second->is_suspect = is_silent;
}

void LinkSet::fail(ProcessId process, const Status& why) {
  const auto found = entries_.find(process);
  if (found == entries_.end()) return;
  found->second->link->fail(why);
  close_lanes(*found->second);
}

// Of a link that has failed: its sockets and buffers serve nobody any more.
void LinkSet::close_lanes(Entry& entry) {
  if (std::exchange(entry.is_closed, true)) return;
  for (const auto& [lane, owner] : owners_)
    if (owner.entry == &entry) transport_->close(lane);
}

void LinkSet::retire(ProcessId process) {
  const auto found = entries_.find(process);
  if (found != entries_.end()) found->second->is_retired = true;
}

// ---------------------------------------------------------------------------------------------------- events

void LinkSet::on_event(TransportEvent& event) {
  if (event.kind == TransportEventKind::kLaneAccepted) return on_accepted(event.lane, event.greeting);
  if (event.kind == TransportEventKind::kLaneDown) return on_lane_down(event.lane, event.status);
  const auto found = owners_.find(event.lane);
  if (found == owners_.end()) return;
  Link& link = *found->second.entry->link;
  switch (event.kind) {
    case TransportEventKind::kLaneUp: on_lane_up(event.lane, found->second); break;
    case TransportEventKind::kSent: link.on_sent(event.lane, event.token); break;
    case TransportEventKind::kReceived: link.on_received(event.lane, event.token, event.bytes, event.status); break;
    default: break;
  }
}

void LinkSet::on_lane_up(LaneId lane, LaneOwner& owner) {
  Entry& entry = *owner.entry;
  owner.is_dialling = false;
  --dials_under_way_;
  if (owner.is_probe)
    on_probe_answered(entry, owner);
  else
    --entry.dialling;
  if (!entry.link->status().ok()) return transport_->close(lane);
  entry.had_lane = true;
  entry.without_lane_since = kNever;
  entry.link->lane_up(lane, owner.serial);
}

// The peer, which accepted it, has given up the older lanes already; so does this side, even if one came to life.
// Probes of the same silence that answer later are lanes like others.
void LinkSet::on_probe_answered(Entry& entry, const LaneOwner& owner) {
  if (entry.silent_since != kNever && owner.serial >= entry.first_probe)
    log_info("the path to {} answers again after {:.1f} s", entry.peer.name,
             to_seconds(clock_->now() - entry.silent_since));
  give_up_lanes_below(entry, owner.first_kept);
  entry.silent_since = kNever;
  entry.is_suspect = false;
}

// Their buffers come back with the events that follow; what was on them waits for other lanes from then on. Either side
// may have asked for fresh lanes, so both become more patient.
void LinkSet::give_up_lanes_below(Entry& entry, std::uint32_t serial) {
  if (serial > entry.first_kept && entry.link->silent_since() != kNever) ++entry.fruitless_probings;
  entry.first_kept = std::max(entry.first_kept, serial);
  for (const auto& [lane, owner] : owners_)
    if (owner.entry == &entry && owner.serial < entry.first_kept) transport_->close(lane);
}

void LinkSet::on_accepted(LaneId lane, const std::string& text) {
  const Result<ReceivedGreeting> received = decode_greeting(text);
  if (!received.ok() || (*received).greeting.to != self_ || (*received).greeting.epoch != options_.epoch) {
    refusals_.warn(clock_->now(), "a lane from {} was turned away: {}", transport_->lane_info(lane).remote_address,
                   received.ok() ? "it asks for another process or epoch" : received.status().to_string());
    transport_->close(lane);
    return;
  }
  const auto found = entries_.find((*received).greeting.from);
  if (found != entries_.end()) return adopt(*found->second, lane, *received);
  if (strangers_.size() >= kMaxStrangers) {
    transport_->close(strangers_.front().lane);
    strangers_.erase(strangers_.begin());
  }
  strangers_.push_back({lane, *received, clock_->now()});
}

Status LinkSet::begin_session(Entry& entry, std::uint64_t session) {
  std::unique_ptr<LinkCipher> cipher;
  if (entry.peer.keys) {
    ISTHMUS_ASSIGN_OR_RETURN(
        cipher, LinkCipher::create(entry.peer.keys->kind, entry.peer.keys->secret, self_, entry.peer.process, session));
  }
  entry.link->begin_session(session, FrameSeal(std::move(cipher)));
  return Status();
}

Status LinkSet::check(Entry& entry, const ReceivedGreeting& received) {
  const LaneGreeting& greeting = received.greeting;
  ISTHMUS_RETURN_IF_ERROR(received.authenticate(entry.peer.keys));
  if (dials(entry)) return corruption("this side dials the lanes of this link");
  ISTHMUS_RETURN_IF_ERROR(entry.link->status());
  if (entry.link->session() == 0) ISTHMUS_RETURN_IF_ERROR(begin_session(entry, greeting.session));
  if (entry.link->session() != greeting.session)
    return corruption("session {:#x}, the link has {:#x}", greeting.session, entry.link->session());
  if (greeting.serial < entry.first_kept || !entry.accepted.accept(greeting.serial))
    return corruption("lane {} was accepted before, or given up", greeting.serial);
  return Status();
}

void LinkSet::adopt(Entry& entry, LaneId lane, const ReceivedGreeting& received) {
  const Status status = check(entry, received);
  if (!status.ok()) {
    refusals_.warn(clock_->now(), "a lane from {} ({}) was turned away: {}", entry.peer.name,
                   transport_->lane_info(lane).remote_address, status.message());
    transport_->close(lane);
    return;
  }
  owners_[lane] = {&entry, received.greeting.serial, received.greeting.first_kept, false, false, clock_->now()};
  entry.had_lane = true;
  entry.without_lane_since = kNever;
  give_up_lanes_below(entry, received.greeting.first_kept);
  entry.link->lane_up(lane, received.greeting.serial);
}

void LinkSet::on_lane_down(LaneId lane, const Status& why) {
  std::erase_if(strangers_, [&](const Stranger& s) { return s.lane == lane; });
  const auto found = owners_.find(lane);
  if (found == owners_.end()) return;
  const LaneOwner owner = found->second;
  Entry& entry = *owner.entry;
  owners_.erase(found);
  if (owner.is_dialling) return on_dial_failed(entry, owner, why);
  entry.link->lane_down(lane);
  if (!entry.is_retired && entry.link->status().ok())
    log_info("a lane to {} is down ({}), {} left", entry.peer.name, why.to_string(), entry.link->lane_count());
}

void LinkSet::on_dial_failed(Entry& entry, const LaneOwner& owner, const Status& why) {
  --dials_under_way_;
  if (!owner.is_probe) {
    --entry.dialling;
    entry.dial_at = clock_->now() + options_.redial_interval;
  }
  if (why.ok()) return;  // closed here
  entry.last_dial_error = why;
  try_next_address(owner);
  log_debug("dialling {} failed: {}", entry.peer.name, why.to_string());
}

// Several lanes that failed at one address are one reason to try the next: counted each, they could lead round all
// addresses and back to the same one.
void LinkSet::try_next_address(const LaneOwner& owner) {
  if (owner.address == owner.entry->next_address) ++owner.entry->next_address;
}

// ---------------------------------------------------------------------------------------------------- dialling

bool LinkSet::open_lane(Entry& entry, bool is_probe, TimePoint now) {
  if (entry.peer.addresses.empty()) return false;
  if (entry.link->session() == 0) {
    const Status status = begin_session(entry, draw_session());
    if (!status.ok()) {
      entry.link->fail(status);
      return false;
    }
  }
  const std::uint32_t serial = entry.next_serial++;
  const std::uint32_t first_kept = is_probe ? entry.first_probe : entry.first_kept;
  const LaneGreeting greeting{self_, entry.peer.process, entry.link->session(), options_.epoch, serial, first_kept};
  const std::string& address = entry.peer.addresses[entry.next_address % entry.peer.addresses.size()];
  const Result<LaneId> lane = transport_->connect(address, encode_greeting(greeting, entry.peer.keys));
  if (!lane.ok()) {
    entry.last_dial_error = lane.status();
    ++entry.next_address;
    entry.dial_at = now + options_.redial_interval;
    return false;
  }
  owners_[*lane] = {&entry, serial, first_kept, true, is_probe, now, entry.next_address};
  ++dials_under_way_;
  if (!is_probe) ++entry.dialling;
  return true;
}

void LinkSet::dial_missing_lanes(Entry& entry, TimePoint now) {
  if (now < entry.dial_at) return;
  const int wanted = std::max(entry.link->wanted_lanes(), entry.lanes_asked_for);
  int missing = wanted - static_cast<int>(entry.link->lane_count()) - entry.dialling;
  while (missing-- > 0 && open_lane(entry, false, now)) {
  }
}

void LinkSet::ask_for_lanes(Entry& entry, TimePoint now) {
  const int wanted = entry.link->wanted_lanes();
  if (now < entry.ask_at || (static_cast<int>(entry.link->lane_count()) >= wanted && !is_silent(entry, now))) return;
  entry.ask_at = now + options_.redial_interval;
  request_dial_(entry.peer.process, wanted, is_silent(entry, now));
}

// Fresh lanes carry everything again. On a line that is only slow they lengthen its queue, so each time that they bring
// nothing the patience doubles, as TCP's does.
Duration LinkSet::patience(const Entry& entry) const {
  const Duration patience = entry.link->patience() * (1 << std::min(entry.fruitless_probings, kMaxDoublings));
  return std::min(patience, options_.reach_limit / 3);  // what is probed too late is not probed
}

bool LinkSet::is_silent(const Entry& entry, TimePoint now) const {
  if (entry.link->lane_count() == 0) return false;  // there is nothing to give up: missing lanes are dialled anyway
  if (entry.is_suspect) return true;
  const TimePoint since = entry.link->silent_since();
  return since != kNever && now - since > patience(entry);
}

void LinkSet::watch_silence(Entry& entry, TimePoint now) {
  if (entry.link->delivered_bytes() != entry.delivered_bytes) {
    entry.delivered_bytes = entry.link->delivered_bytes();
    entry.fruitless_probings = 0;
  }
  if (!is_silent(entry, now)) {
    entry.silent_since = kNever;
    return;
  }
  if (entry.silent_since == kNever) {
    entry.silent_since = std::min(now, entry.link->silent_since());
    entry.dial_at = TimePoint::min();
    entry.first_probe = entry.next_serial;
    log_info("the path to {} is silent: probing it", entry.peer.name);
  }
  if (dials(entry) && now >= entry.dial_at) probe(entry, now);
}

void LinkSet::probe(Entry& entry, TimePoint now) {
  const bool is_eager = now - entry.silent_since < kEagerProbing;
  open_lane(entry, true, now);
  entry.dial_at = now + (is_eager ? options_.redial_interval : kPatientInterval);
}

// Adapters wait for an answer as long as TCP does. The next address may be the one that answers.
void LinkSet::end_late_dials(TimePoint now) {
  if (dials_under_way_ == 0) return;
  for (auto& [lane, owner] : owners_) {
    const bool is_redial = owner.is_probe || owner.entry->had_lane;
    if (!owner.is_dialling || now < owner.since + (is_redial ? kProbeLimit : kDialLimit)) continue;
    owner.since = kNever - kDialLimit;  // once
    owner.entry->last_dial_error = deadline_exceeded("no answer");
    try_next_address(owner);
    transport_->close(lane);
  }
}

bool LinkSet::fail_if_out_of_reach(Entry& entry, TimePoint now) {
  Link& link = *entry.link;
  const bool has_lane = link.lane_count() > 0;
  if (has_lane)
    entry.without_lane_since = kNever;
  else if (entry.without_lane_since == kNever)
    entry.without_lane_since = now;
  const TimePoint since = std::min(entry.without_lane_since, link.silent_since());
  if (since == kNever || now - since < options_.reach_limit) return false;
  std::string tried;
  for (const std::string& address : entry.peer.addresses) tried += tried.empty() ? address : ", " + address;
  link.fail(unavailable("{} {} for {:.1f} s (limit {:.1f} s); addresses: {}; last error: {}",
                        has_lane ? "nothing was acknowledged by" : "no lane to", entry.peer.name,
                        to_seconds(now - since), to_seconds(options_.reach_limit), tried,
                        entry.last_dial_error.to_string()));
  return true;
}

// Keeps a used link in lanes, or fails it once it has been out of reach for too long.
bool LinkSet::maintain(Entry& entry, TimePoint now) {
  Link& link = *entry.link;
  if (!link.status().ok()) close_lanes(entry);
  if (entry.is_retired || !link.status().ok() || !(entry.is_wanted || link.was_used())) return false;
  watch_silence(entry, now);
  if (!dials(entry))
    ask_for_lanes(entry, now);
  else if (entry.silent_since == kNever)
    dial_missing_lanes(entry, now);
  return fail_if_out_of_reach(entry, now);
}

bool LinkSet::progress() {
  bool did_something = false;
  const std::size_t count = transport_->progress(events_);
  for (std::size_t i = 0; i < count; ++i) on_event(events_[i]);
  did_something = count > 0;
  const TimePoint now = clock_->now();
  end_late_dials(now);
  for (auto& [process, entry] : entries_) {
    did_something |= maintain(*entry, now);
    did_something |= entry->link->pump();
  }
  while (!strangers_.empty() && now - strangers_.front().since > kStrangerLimit) {
    transport_->close(strangers_.front().lane);
    strangers_.erase(strangers_.begin());
  }
  return did_something;
}

TimePoint LinkSet::next_due() const {
  TimePoint due = transport_->next_due();
  const TimePoint now = clock_->now();
  for (const auto& [process, entry] : entries_) {
    const Link& link = *entry->link;
    due = std::min(due, link.next_due());
    if (entry->is_retired || !link.status().ok() || !(entry->is_wanted || link.was_used())) continue;
    const bool waits = link.lane_count() == 0 || entry->silent_since != kNever;
    if (waits) due = std::min(due, now + options_.redial_interval);
    if (link.silent_since() != kNever) due = std::min(due, std::max(now, link.silent_since() + patience(*entry)));
  }
  return due;
}

bool LinkSet::drained() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& item) {
    const Entry& entry = *item.second;
    return entry.is_retired || !entry.link->status().ok() || entry.link->drained();
  });
}

}  // namespace isthmus
