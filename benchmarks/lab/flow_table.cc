#include "benchmarks/lab/flow_table.h"

#include <cstring>
#include <string_view>
#include <tuple>

namespace isthmus::lab {
namespace {

// The same for both directions of a connection.
FlowKey key_of(const IpPacket& packet) {
  FlowKey key{packet.source(), packet.destination(), packet.source_port(), packet.destination_port()};
  if (std::tie(key.low_host, key.low_port) > std::tie(key.high_host, key.high_port)) {
    std::swap(key.low_host, key.high_host);
    std::swap(key.low_port, key.high_port);
  }
  return key;
}

}  // namespace

std::size_t FlowTable::Hash::operator()(const FlowKey& key) const {
  static_assert(std::has_unique_object_representations_v<FlowKey>);
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof(key)});
}

FlowDirection* FlowTable::see(int from, int to, std::span<std::byte> bytes) {
  const std::optional<IpPacket> packet = IpPacket::parse(bytes);
  if (!packet || !packet->is_tcp()) return nullptr;
  const FlowKey key = key_of(*packet);
  auto found = numbers_.find(key);
  if (found == numbers_.end()) {
    if (flows_.size() == kMaxFlows) return nullptr;
    found = numbers_.emplace(key, flows_.size()).first;
    Flow& flow = flows_.emplace_back();
    flow.opener = from;
    flow.other = to;
    flow.opener_port = packet->source_port();
    flow.other_port = packet->destination_port();
  }
  Flow& flow = flows_[found->second];
  const bool is_opener = from == flow.opener;
  FlowDirection& direction = is_opener ? flow.from_opener : flow.from_other;
  ++direction.packets;
  direction.bytes += bytes.size();
  return &direction;
}

void FlowTable::set_cap(std::size_t number, std::int64_t bits_per_sec) {
  Flow& flow = flows_[number];
  flow.cap_bits_per_sec = bits_per_sec;
  for (FlowDirection* direction : {&flow.from_opener, &flow.from_other}) {
    direction->cap.reset();
    if (bits_per_sec != kUnlimitedRate) direction->cap.emplace(bits_per_sec, queue_, mtu_bytes_);
  }
}

}  // namespace isthmus::lab
