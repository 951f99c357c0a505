#include "benchmarks/lab/wan.h"

#include <algorithm>

namespace isthmus::lab {

Wan::Wan(const Topology& topology, PacketPool& pool, std::uint64_t seed, bool reorder)
    : topology_(topology),
      pool_(pool),
      reorder_(reorder),
      border_(topology),
      flows_(topology.queue, topology.mtu),
      random_(seed) {
  for (const SiteSpec& site : topology.sites) {
    up_.emplace_back(site.up_bits_per_sec, topology.queue, topology.mtu);
    down_.emplace_back(site.down_bits_per_sec, topology.queue, topology.mtu);
  }
  site_cut_.assign(topology.sites.size(), false);
  pairs_.resize(topology.pairs.size());
  events_.reserve(pool.slot_count());
}

void Wan::send(int from, int to, PacketId packet, TimePoint now, TimePoint last_look) {
  PairCounters& counters = pairs_[index(from, to)].counters;
  const std::uint32_t size_bytes = pool_.length_bytes(packet);
  FlowDirection* flow = nullptr;
  if (!cross_borders(from, to, packet, &flow)) return drop(packet, counters.filtered);
  std::optional<TimePoint> departure = up_[index(from)].admit_late(now, last_look, size_bytes);
  if (!departure) return drop(packet, counters.up_dropped);
  counters.wire.add(size_bytes);
  if (is_cut(from, to)) return drop(packet, counters.cut);
  if (is_lost(topology_.pair(from, to).loss)) return drop(packet, counters.lost);
  const bool is_capped = flow != nullptr && flow->cap;
  if (is_capped) departure = flow->cap->admit(*departure, size_bytes);
  if (!departure) return drop(packet, counters.capped);
  TimePoint& last_arrival = is_capped ? flow->last_arrival : pairs_[index(from, to)].last_arrival;
  // The line may have made up for a late look; the way to the other site still takes its whole time.
  const TimePoint arrival = arrival_time(std::max(*departure, now), topology_.pair(from, to), &last_arrival);
  schedule({arrival, next_order_++, packet, static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to),
            Stage::kReachesDownLine});
}

// A flow is seen between the borders, where both directions have the same addresses.
bool Wan::cross_borders(int from, int to, PacketId packet, FlowDirection** flow) {
  const std::span<std::byte> bytes(pool_.data(packet), pool_.length_bytes(packet));
  if (!border_.leave(from, bytes)) return false;
  *flow = flows_.see(from, to, bytes);
  return border_.enter(to, bytes);
}

std::optional<Delivery> Wan::next_delivery(TimePoint now) {
  while (!events_.empty() && events_.front().time <= now) {
    Event event = take_first();
    PairCounters& counters = pairs_[index(event.from, event.to)].counters;
    const std::uint32_t size_bytes = pool_.length_bytes(event.packet);
    if (event.stage == Stage::kLeavesDownLine) {
      counters.delivered.add(size_bytes);
      return Delivery{event.to, event.packet};
    }
    if (is_cut(event.from, event.to)) {
      drop(event.packet, counters.cut);
      continue;
    }
    const std::optional<TimePoint> departure = down_[event.to].admit(event.time, size_bytes);
    if (!departure) {
      drop(event.packet, counters.down_dropped);
      continue;
    }
    event.time = *departure;
    event.stage = Stage::kLeavesDownLine;
    schedule(event);
  }
  return std::nullopt;
}

void Wan::set_delay(int a, int b, Duration one_way) {
  topology_.pair(a, b).delay = topology_.pair(b, a).delay = one_way;
}

void Wan::set_jitter(int a, int b, Duration jitter) {
  topology_.pair(a, b).jitter = topology_.pair(b, a).jitter = jitter;
}

void Wan::set_loss(int a, int b, double fraction) { topology_.pair(a, b).loss = topology_.pair(b, a).loss = fraction; }

void Wan::set_cut(int a, int b, bool cut) { pairs_[index(a, b)].cut = pairs_[index(b, a)].cut = cut; }

bool Wan::is_cut(int from, int to) const {
  return pairs_[index(from, to)].cut || site_cut_[index(from)] || site_cut_[index(to)];
}

bool Wan::later(const Event& a, const Event& b) { return a.time != b.time ? a.time > b.time : a.order > b.order; }

void Wan::schedule(Event event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), later);
}

Wan::Event Wan::take_first() {
  std::pop_heap(events_.begin(), events_.end(), later);
  const Event event = events_.back();
  events_.pop_back();
  return event;
}

void Wan::drop(PacketId packet, PacketCount& counter) {
  counter.add(pool_.length_bytes(packet));
  pool_.give_back(packet);
}

bool Wan::is_lost(double loss) { return loss > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < loss; }

TimePoint Wan::arrival_time(TimePoint departure, const PairSpec& spec, TimePoint* last_arrival) {
  TimePoint arrival = departure + spec.delay;
  if (spec.jitter > Duration::zero()) {
    arrival += Duration(std::uniform_int_distribution<std::int64_t>(0, spec.jitter.count())(random_));
  }
  // A delay that was just made shorter must not let packets overtake those before them.
  if (!reorder_) arrival = std::max(arrival, *last_arrival);
  *last_arrival = arrival;
  return arrival;
}

}  // namespace isthmus::lab
