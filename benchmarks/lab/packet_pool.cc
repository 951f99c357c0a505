#include "benchmarks/lab/packet_pool.h"

#include <sys/mman.h>

#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus::lab {

Result<std::unique_ptr<PacketPool>> PacketPool::create(std::size_t slot_bytes, std::size_t slot_count) {
  slot_bytes = (slot_bytes + 63) / 64 * 64;
  void* memory = ::mmap(nullptr, slot_bytes * slot_count, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return unavailable("cannot map {} bytes for packets: {}", slot_bytes * slot_count, errno_message(errno));
  }
  return std::unique_ptr<PacketPool>(new PacketPool(static_cast<std::byte*>(memory), slot_bytes, slot_count));
}

PacketPool::PacketPool(std::byte* memory, std::size_t slot_bytes, std::size_t slot_count)
    : memory_(memory), slot_bytes_(slot_bytes), slot_count_(slot_count), lengths_(slot_count) {
  free_.reserve(slot_count);
}

PacketPool::~PacketPool() { ::munmap(memory_, slot_bytes_ * slot_count_); }

PacketId PacketPool::take() {
  if (!free_.empty()) {
    const PacketId id = free_.back();
    free_.pop_back();
    return id;
  }
  return fresh_ < slot_count_ ? static_cast<PacketId>(fresh_++) : kNoPacket;
}

}  // namespace isthmus::lab
