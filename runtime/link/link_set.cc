#include "runtime/link/link_set.h"

#include <algorithm>
#include <random>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

constexpr std::size_t kEventsPerProgress = 64;
// Lanes of processes that no group of ours has named yet. They hold no buffers; more are turned away.
constexpr std::size_t kMaxStrangers = 256;

std::uint64_t draw_session() {
  std::random_device device;
  std::uint64_t session = 0;
  while (session == 0) session = std::uint64_t{device()} << 32 | device();
  return session;
}

}  // namespace

LinkSet::LinkSet(const LinkSetOptions& options, const Clock* clock, std::unique_ptr<Transport> transport,
                 ProcessId self, Traffic* traffic, std::function<void(ProcessId)> request_dial)
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
  slot->link = std::make_unique<Link>(options_.link, clock_, transport_.get(), traffic_, peer.name, options_.epoch);
  const auto known = std::partition(strangers_.begin(), strangers_.end(),
                                    [&](const Stranger& s) { return s.greeting.from != peer.process; });
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

void LinkSet::dial(ProcessId process) {
  const auto found = entries_.find(process);
  if (found != entries_.end()) found->second->wanted = true;
}

void LinkSet::fail(ProcessId process, const Status& why) {
  const auto found = entries_.find(process);
  if (found == entries_.end()) return;
  found->second->link->fail(why);
  for (LaneId lane : found->second->link->lane_ids()) transport_->close(lane);
}

// The dialling side does not wait out its interval.
void LinkSet::suspect(ProcessId process, bool silent) {
  const auto found = entries_.find(process);
  if (found != entries_.end() && silent) found->second->dial_at = TimePoint::min();
}

void LinkSet::retire(ProcessId process) {
  const auto found = entries_.find(process);
  if (found != entries_.end()) found->second->retired = true;
}

// ---------------------------------------------------------------------------------------------------- events

void LinkSet::on_event(TransportEvent& event) {
  if (event.kind == TransportEventKind::kLaneAccepted) return on_accepted(event.lane, event.greeting);
  if (event.kind == TransportEventKind::kLaneDown) return on_lane_down(event.lane, event.status);
  const auto found = owners_.find(event.lane);
  if (found == owners_.end()) return;
  Entry& entry = *found->second.entry;
  switch (event.kind) {
    case TransportEventKind::kLaneUp:
      found->second.dialling = false;
      --entry.dialling;
      entry.without_lane_since = kNever;
      entry.link->lane_up(event.lane);
      break;
    case TransportEventKind::kSent: entry.link->on_sent(event.lane, event.token); break;
    case TransportEventKind::kReceived:
      entry.link->on_received(event.lane, event.token, event.bytes, event.status);
      break;
    default: break;
  }
}

void LinkSet::on_accepted(LaneId lane, const std::string& text) {
  const Result<LaneGreeting> greeting = decode_greeting(text);
  if (!greeting.ok() || (*greeting).to != self_ || (*greeting).epoch != options_.epoch) {
    log_warning("a lane from {} was turned away: {}", transport_->lane_info(lane).remote_address,
                greeting.ok() ? "it asks for another process or epoch" : greeting.status().to_string());
    transport_->close(lane);
    return;
  }
  const auto found = entries_.find((*greeting).from);
  if (found != entries_.end()) return adopt(*found->second, lane, *greeting);
  if (strangers_.size() >= kMaxStrangers) {
    log_warning("a lane from {} was turned away: {} lanes of unknown processes wait already",
                transport_->lane_info(lane).remote_address, strangers_.size());
    transport_->close(lane);
    return;
  }
  strangers_.push_back({lane, *greeting});
}

void LinkSet::adopt(Entry& entry, LaneId lane, const LaneGreeting& greeting) {
  if (entry.link->session() == 0) entry.link->set_session(greeting.session);
  if (entry.link->session() != greeting.session) {
    log_warning("a lane from {} was turned away: session {:#x}, the link has {:#x}", entry.peer.name, greeting.session,
                entry.link->session());
    transport_->close(lane);
    return;
  }
  owners_[lane] = {&entry, false};
  entry.without_lane_since = kNever;
  entry.link->lane_up(lane);
}

void LinkSet::on_lane_down(LaneId lane, const Status& why) {
  std::erase_if(strangers_, [&](const Stranger& s) { return s.lane == lane; });
  const auto found = owners_.find(lane);
  if (found == owners_.end()) return;
  Entry& entry = *found->second.entry;
  const bool was_dialling = found->second.dialling;
  owners_.erase(found);
  if (was_dialling) {
    --entry.dialling;
    entry.last_dial_error = why;
    ++entry.next_address;
    entry.dial_at = clock_->now() + options_.redial_interval;
    log_debug("dialling {} failed: {}", entry.peer.name, why.to_string());
    return;
  }
  entry.link->lane_down(lane);
  if (!entry.retired && entry.link->status().ok())
    log_info("a lane to {} is down ({}), {} left", entry.peer.name, why.to_string(), entry.link->lane_count());
}

// ---------------------------------------------------------------------------------------------------- dialling

void LinkSet::dial_missing_lanes(Entry& entry, TimePoint now) {
  if (now < entry.dial_at || entry.peer.addresses.empty()) return;
  if (entry.link->session() == 0) entry.link->set_session(draw_session());
  const int missing = options_.lanes - static_cast<int>(entry.link->lane_count()) - entry.dialling;
  for (int i = 0; i < missing; ++i) {
    const std::string& address = entry.peer.addresses[entry.next_address % entry.peer.addresses.size()];
    const auto index = static_cast<std::uint16_t>(options_.lanes - missing + i);
    const LaneGreeting greeting{self_, entry.peer.process, entry.link->session(), options_.epoch, index};
    const Result<LaneId> lane = transport_->connect(address, encode_greeting(greeting));
    if (!lane.ok()) {
      entry.last_dial_error = lane.status();
      ++entry.next_address;
      entry.dial_at = now + options_.redial_interval;
      return;
    }
    owners_[*lane] = {&entry, true};
    ++entry.dialling;
  }
}

// Keeps a used link in lanes, or fails it once it has been without one for too long.
bool LinkSet::maintain(Entry& entry, TimePoint now) {
  Link& link = *entry.link;
  if (entry.retired || !link.status().ok() || !(entry.wanted || link.was_used())) return false;
  if (self_ < entry.peer.process) {
    dial_missing_lanes(entry, now);
  } else if (link.lane_count() == 0 && !entry.asked) {
    entry.asked = true;
    request_dial_(entry.peer.process);
  }
  if (link.lane_count() > 0) return false;
  if (entry.without_lane_since == kNever) entry.without_lane_since = now;
  if (now - entry.without_lane_since < options_.reach_limit) return false;
  std::string tried;
  for (const std::string& address : entry.peer.addresses) tried += tried.empty() ? address : ", " + address;
  link.fail(unavailable("no lane to {} for {:.1f} s (limit {:.1f} s); addresses: {}; last error: {}", entry.peer.name,
                        to_seconds(now - entry.without_lane_since), to_seconds(options_.reach_limit), tried,
                        entry.last_dial_error.to_string()));
  return true;
}

bool LinkSet::progress() {
  bool did_something = false;
  const std::size_t count = transport_->progress(events_);
  for (std::size_t i = 0; i < count; ++i) on_event(events_[i]);
  did_something = count > 0;
  const TimePoint now = clock_->now();
  for (auto& [process, entry] : entries_) {
    did_something |= maintain(*entry, now);
    did_something |= entry->link->pump();
  }
  return did_something;
}

TimePoint LinkSet::next_due() const {
  TimePoint due = transport_->next_due();
  for (const auto& [process, entry] : entries_) {
    due = std::min(due, entry->link->next_due());
    const bool waits = entry->link->lane_count() == 0 && entry->link->was_used() && entry->link->status().ok();
    if (waits && !entry->retired) due = std::min(due, clock_->now() + options_.redial_interval);
  }
  return due;
}

bool LinkSet::drained() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& item) {
    const Entry& entry = *item.second;
    return entry.retired || !entry.link->status().ok() || entry.link->drained();
  });
}

}  // namespace isthmus
