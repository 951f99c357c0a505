// The emulated WAN: borders of the sites, up line, cap of the flow, delay and loss of the pair, down line. Pure: it
// knows no descriptor and no clock.
//
// Threads: one thread at a time. The packet path allocates nothing, but for new flows.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "benchmarks/lab/border.h"
#include "benchmarks/lab/flow_table.h"
#include "benchmarks/lab/line.h"
#include "benchmarks/lab/packet_pool.h"
#include "benchmarks/lab/topology.h"

namespace isthmus::lab {

struct PacketCount {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  // of whole IP packets

  void add(std::uint32_t size_bytes) {
    ++packets;
    bytes += size_bytes;
  }
  PacketCount& operator+=(const PacketCount& other) {
    packets += other.packets;
    bytes += other.bytes;
    return *this;
  }
};

// What became of the packets of one direction of a pair. Every packet that a site sent is counted once in `wire`,
// `filtered` or `up_dropped`; every one of `wire` ends in one of the last five, or is still on its way.
struct PairCounters {
  PacketCount filtered;      // a border let it neither out nor in
  PacketCount up_dropped;    // queue of the sender's up line was full
  PacketCount wire;          // left the up line
  PacketCount lost;          // random loss
  PacketCount cut;           // the pair or a site was cut
  PacketCount capped;        // queue of its flow's cap was full
  PacketCount down_dropped;  // queue of the receiver's down line was full
  PacketCount delivered;
};

struct Delivery {
  int site;
  PacketId packet;  // the caller gives it back to the pool
};

class Wan {
 public:
  // `reorder` lets jitter bring packets of a pair out of order.
  Wan(const Topology& topology, PacketPool& pool, std::uint64_t seed, bool reorder);

  // Takes the packet over. It was seen at `now` and came after `last_look` (Line::admit_late).
  void send(int from, int to, PacketId packet, TimePoint now, TimePoint last_look);

  // The next packet that has arrived by `now`, in order of time.
  std::optional<Delivery> next_delivery(TimePoint now);

  // When next_delivery() has something to do; kNever when nothing is on its way.
  TimePoint next_event() const { return events_.empty() ? kNever : events_.front().time; }

  // Settings hold for packets that arrive from now on; a cut also takes those on their way. Both directions of a pair.
  void set_up_rate(int site, std::int64_t bits_per_sec) { up_[index(site)].set_rate(bits_per_sec); }
  void set_down_rate(int site, std::int64_t bits_per_sec) { down_[index(site)].set_rate(bits_per_sec); }
  void set_delay(int a, int b, Duration one_way);
  void set_jitter(int a, int b, Duration jitter);
  void set_loss(int a, int b, double fraction);
  void set_cut(int a, int b, bool cut);
  void set_site_cut(int site, bool cut) { site_cut_[index(site)] = cut; }
  void set_flow_cap(std::size_t number, std::int64_t bits_per_sec) { flows_.set_cap(number, bits_per_sec); }

  const Topology& topology() const { return topology_; }  // with the changes that were made since
  const Line& up_line(int site) const { return up_[index(site)]; }
  const Line& down_line(int site) const { return down_[index(site)]; }
  const PairCounters& counters(int from, int to) const { return pairs_[index(from, to)].counters; }
  const std::vector<Flow>& flows() const { return flows_.flows(); }
  bool is_cut(int from, int to) const;
  bool is_site_cut(int site) const { return site_cut_[index(site)]; }

 private:
  enum class Stage : std::uint8_t { kReachesDownLine, kLeavesDownLine };
  struct Event {
    TimePoint time;
    std::uint64_t order;  // of events at the same time
    PacketId packet;
    std::uint16_t from;
    std::uint16_t to;
    Stage stage;
  };
  struct Pair {
    TimePoint last_arrival{};
    bool cut = false;
    PairCounters counters;
  };

  std::size_t index(int site) const { return static_cast<std::size_t>(site); }
  std::size_t index(int from, int to) const { return static_cast<std::size_t>(from * topology_.site_count() + to); }
  static bool later(const Event& a, const Event& b);
  void schedule(Event event);
  Event take_first();
  void drop(PacketId packet, PacketCount& counter);
  bool is_lost(double loss);
  bool cross_borders(int from, int to, PacketId packet, FlowDirection** flow);
  TimePoint arrival_time(TimePoint departure, const PairSpec& spec, TimePoint* last_arrival);

  Topology topology_;
  PacketPool& pool_;
  bool reorder_;
  Border border_;
  FlowTable flows_;
  std::vector<Line> up_;
  std::vector<Line> down_;
  std::vector<bool> site_cut_;
  std::vector<Pair> pairs_;
  std::vector<Event> events_;  // a heap, earliest first
  std::uint64_t next_order_ = 0;
  std::mt19937_64 random_;
};

}  // namespace isthmus::lab
