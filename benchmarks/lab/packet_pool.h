// Packets in flight: fixed slots in one mapping, made once.
//
// Threads: one thread at a time (the forwarder's). Nothing allocates after create().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus::lab {

using PacketId = std::uint32_t;
inline constexpr PacketId kNoPacket = UINT32_MAX;

class PacketPool {
 public:
  // Memory of a slot is touched when it is first used, so a generous count costs only address space.
  static Result<std::unique_ptr<PacketPool>> create(std::size_t slot_bytes, std::size_t slot_count);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // kNoPacket when all slots are in use. The slot that was freed last comes first, as it is still in the cache.
  PacketId take();
  void give_back(PacketId id) { free_.push_back(id); }

  std::byte* data(PacketId id) { return memory_ + std::size_t{id} * slot_bytes_; }
  std::uint32_t& length_bytes(PacketId id) { return lengths_[id]; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  std::size_t slot_count() const { return slot_count_; }
  std::size_t used_count() const { return fresh_ - free_.size(); }

 private:
  PacketPool(std::byte* memory, std::size_t slot_bytes, std::size_t slot_count);

  std::byte* memory_;
  std::size_t slot_bytes_;
  std::size_t slot_count_;
  std::size_t fresh_ = 0;  // slots from here on were never used
  std::vector<PacketId> free_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace isthmus::lab
