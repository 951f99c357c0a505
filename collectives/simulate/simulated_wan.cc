#include "collectives/simulate/simulated_wan.h"

#include <algorithm>

namespace isthmus {
namespace {

constexpr std::uint32_t kSegmentBytes = 64 * 1024;
constexpr std::uint32_t kHeaderBytes = 96;  // of our frame: header and seal
constexpr SimulatedTime kHostNs = 150'000;  // two hosts: system calls, wake-ups, sealing
constexpr double kNsPerSecond = 1e9, kMillion = 1e6;
constexpr SimulatedTime kNsPerUs = 1000;

SimulatedTime duration(double ns_per_byte, std::uint32_t bytes) {
  return static_cast<SimulatedTime>(ns_per_byte * bytes + 0.5);
}

}  // namespace

SimulatedWan::SimulatedWan(const Network* network, EventQueue* queue) : network_(*network), queue_(*queue) {
  const double payload = static_cast<double>(network_.payload_ppm) / kMillion;
  for (int site = 0; site < network_.site_count(); ++site) {
    std::int64_t loss_ppm = 0;
    for (int to = 0; to < network_.site_count(); ++to)
      if (to != site) loss_ppm = std::max(loss_ppm, network_.path(site, to).loss_ppm);
    const double kept = payload * (1 - static_cast<double>(loss_ppm) / kMillion);
    const SiteLine& spec = network_.sites[static_cast<std::size_t>(site)];
    Line& line = lines_.emplace_back();
    line.up_ns_per_byte = kNsPerSecond / (static_cast<double>(spec.up_bytes_per_sec) * kept);
    line.down_ns_per_byte = kNsPerSecond / (static_cast<double>(spec.down_bytes_per_sec) * kept);
  }
  if (std::ranges::any_of(network_.paths, [](const SitePath& path) { return path.bytes_per_sec > 0; }))
    path_free_at_.assign(network_.paths.size(), 0);
}

std::uint32_t SimulatedWan::add_link(int from_site, int to_site) {
  constexpr double kWindow = 1.25;  // of what fits on the way
  const SiteLine& from = network_.sites[static_cast<std::size_t>(from_site)];
  const SiteLine& to = network_.sites[static_cast<std::size_t>(to_site)];
  const double rate = static_cast<double>(std::min(from.up_bytes_per_sec, to.down_bytes_per_sec));
  const std::int64_t round_trip_us =
      network_.path(from_site, to_site).delay_us + network_.path(to_site, from_site).delay_us;
  const double window = kWindow * rate * static_cast<double>(round_trip_us) / kMillion + 2.0 * kSegmentBytes;
  Link& link = links_.emplace_back();
  link.window_bytes = static_cast<std::uint32_t>(std::min(window, 2e9));
  link.from = static_cast<std::uint16_t>(from_site);
  link.to = static_cast<std::uint16_t>(to_site);
  return static_cast<std::uint32_t>(links_.size() - 1);
}

void SimulatedWan::send(std::uint32_t link_number, std::uint32_t message, std::uint32_t bytes, SimulatedTime now) {
  const std::uint32_t slot = new_message();
  message_pool_[slot] = {message, bytes + kHeaderBytes, kNoMessage};
  Link& link = links_[link_number];
  if (link.first == kNoMessage) {
    link.first = slot;
    link.taken_bytes = 0;
  } else {
    message_pool_[link.last].next = slot;
  }
  link.last = slot;
  ++messages_;
  join_round(link_number, now);
}

void SimulatedWan::handle(const Event& event, const std::function<void(std::uint32_t)>& on_left,
                          const std::function<void(std::uint32_t)>& on_arrived) {
  switch (event.kind) {
    case kLineFree: return on_line_free(event.subject, event.at, on_left);
    case kFirstByte: return on_first_byte(event.subject, event.at);
    case kDelivered: {
      const Segment& segment = segment_pool_[event.subject];
      const Link& link = links_[segment.link];
      queue_.plan(event.at + network_.path(link.to, link.from).delay_us * kNsPerUs, kAcknowledged, event.subject);
      if (segment.message != kNoMessage) on_arrived(segment.message);
      return;
    }
    case kAcknowledged: {
      Segment& segment = segment_pool_[event.subject];
      const std::uint32_t link = segment.link;
      links_[link].under_way_bytes -= segment.bytes;
      segment.next_free = free_segment_;
      free_segment_ = event.subject;
      return join_round(link, event.at);
    }
    default: return;
  }
}

// A link that may send is in the round of its line, once.
void SimulatedWan::join_round(std::uint32_t number, SimulatedTime now) {
  Link& link = links_[number];
  if (link.is_waiting || link.first == kNoMessage || link.under_way_bytes >= link.window_bytes) return;
  link.is_waiting = true;
  lines_[link.from].round.push_back(number);
  serve(link.from, now);
}

// The next link of the round puts a segment on the line.
void SimulatedWan::serve(std::uint32_t site, SimulatedTime now) {
  Line& line = lines_[site];
  if (line.is_busy || line.round_begin == line.round.size()) return;
  const std::uint32_t number = line.round[line.round_begin++];
  constexpr std::size_t kTrimAt = 1024;
  if (line.round_begin >= kTrimAt && line.round_begin * 2 >= line.round.size()) {
    line.round.erase(line.round.begin(), line.round.begin() + static_cast<std::ptrdiff_t>(line.round_begin));
    line.round_begin = 0;
  }
  const std::uint32_t slot = take_segment(number);
  const Link& link = links_[number];
  Segment& segment = segment_pool_[slot];
  const SitePath& path = network_.path(link.from, link.to);
  const SimulatedTime on_line = duration(line.up_ns_per_byte, segment.bytes);
  SimulatedTime first = now, last = now + on_line;
  if (path.bytes_per_sec > 0) {
    SimulatedTime& free_at =
        path_free_at_[static_cast<std::size_t>(link.from) * network_.sites.size() + static_cast<std::size_t>(link.to)];
    first = std::max(first, free_at);
    last = std::max(last, first + duration(kNsPerSecond / static_cast<double>(path.bytes_per_sec), segment.bytes));
    free_at = last;
  }
  const SimulatedTime delay = path.delay_us * kNsPerUs;
  segment.last_byte_at = last + delay;
  line.is_busy = true;
  line.on_line = slot;
  line.sent_bytes += segment.bytes;
  queue_.plan(first + delay, kFirstByte, slot);
  queue_.plan(now + on_line, kLineFree, site);
}

// Cuts the next segment off the link's first message.
std::uint32_t SimulatedWan::take_segment(std::uint32_t number) {
  const std::uint32_t slot = new_segment();
  Link& link = links_[number];
  const std::uint32_t first = link.first;
  Message& message = message_pool_[first];
  const std::uint32_t bytes = std::min(kSegmentBytes, message.bytes - link.taken_bytes);
  link.taken_bytes += bytes;
  link.under_way_bytes += bytes;
  link.is_waiting = false;
  const bool is_last = link.taken_bytes == message.bytes;
  segment_pool_[slot] = {number, bytes, is_last ? message.number : kNoMessage, 0, kNoMessage};
  if (is_last) {
    link.first = message.next;
    link.taken_bytes = 0;
    message.next = free_message_;
    free_message_ = first;
  }
  return slot;
}

void SimulatedWan::on_line_free(std::uint32_t site, SimulatedTime now,
                                const std::function<void(std::uint32_t)>& on_left) {
  Line& line = lines_[site];
  const Segment segment = segment_pool_[line.on_line];
  line.is_busy = false;
  join_round(segment.link, now);  // behind those that wait already
  serve(site, now);
  if (segment.message != kNoMessage) on_left(segment.message);
}

void SimulatedWan::on_first_byte(std::uint32_t slot, SimulatedTime now) {
  const Segment& segment = segment_pool_[slot];
  Line& line = lines_[links_[segment.link].to];
  const SimulatedTime start = std::max(now, line.down_free_at);
  line.down_free_at = std::max(segment.last_byte_at, start + duration(line.down_ns_per_byte, segment.bytes));
  queue_.plan(line.down_free_at + kHostNs, kDelivered, slot);
}

std::uint32_t SimulatedWan::new_segment() {
  if (free_segment_ == kNoMessage) {
    segment_pool_.emplace_back();
    return static_cast<std::uint32_t>(segment_pool_.size() - 1);
  }
  const std::uint32_t slot = free_segment_;
  free_segment_ = segment_pool_[slot].next_free;
  return slot;
}

std::uint32_t SimulatedWan::new_message() {
  if (free_message_ == kNoMessage) {
    message_pool_.emplace_back();
    return static_cast<std::uint32_t>(message_pool_.size() - 1);
  }
  const std::uint32_t slot = free_message_;
  free_message_ = message_pool_[slot].next;
  return slot;
}

}  // namespace isthmus
