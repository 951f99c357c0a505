// FlowTable: the TCP connections between the sites, numbered in the order in which they were first seen, and a cap on
// the rate of some of them: what a per-flow limit, or a congested path of several, does to one lane of many.
//
// A capped flow has a line of its own, with the queue of all lines, between the sites' lines, in each direction.
//
// Threads: one thread at a time. Seeing a packet costs a hash and allocates only for a new connection, of which at most
// kMaxFlows are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "benchmarks/lab/ip_packet.h"
#include "benchmarks/lab/line.h"

namespace isthmus::lab {

// One end of a connection, and the other.
struct FlowKey {
  IpPacket::Address low_host{}, high_host{};
  std::uint16_t low_port = 0, high_port = 0;

  bool operator==(const FlowKey&) const = default;
};

struct FlowDirection {
  std::uint64_t packets = 0, bytes = 0;  // sent, of whole IP packets
  std::optional<Line> cap;
  TimePoint last_arrival{};  // of a capped flow's packets: they keep their order among themselves
};

struct Flow {
  int opener = 0, other = 0;  // sites; the opener sent the first packet
  std::uint16_t opener_port = 0, other_port = 0;
  std::int64_t cap_bits_per_sec = kUnlimitedRate;
  FlowDirection from_opener, from_other;
};

class FlowTable {
 public:
  static constexpr std::size_t kMaxFlows = 4096;

  FlowTable(Duration queue, int mtu_bytes) : queue_(queue), mtu_bytes_(mtu_bytes) {}

  // Counts a packet between two sites. nullptr: it is not TCP, or there are too many flows.
  FlowDirection* see(int from, int to, std::span<std::byte> packet);

  // kUnlimitedRate takes the cap off. `number` is an index of flows().
  void set_cap(std::size_t number, std::int64_t bits_per_sec);

  const std::vector<Flow>& flows() const { return flows_; }

 private:
  struct Hash {
    std::size_t operator()(const FlowKey& key) const;
  };

  Duration queue_;
  int mtu_bytes_;
  std::unordered_map<FlowKey, std::size_t, Hash> numbers_;
  std::vector<Flow> flows_;
};

}  // namespace isthmus::lab
