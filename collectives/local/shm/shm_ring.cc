#include "collectives/local/shm/shm_ring.h"

#include <bit>
#include <new>

namespace isthmus {
namespace {
constexpr std::uint64_t kMagic = 0x31676e6972687369;  // "ishring1"
}  // namespace

Status check_shm_ring_capacity(std::size_t capacity_bytes) {
  if (std::has_single_bit(capacity_bytes) && capacity_bytes >= kMinShmRingBytes && capacity_bytes <= kMaxShmRingBytes) {
    return {};
  }
  return invalid_argument("a shared-memory ring of {} bytes: must be a power of two from {} to {}", capacity_bytes,
                          kMinShmRingBytes, kMaxShmRingBytes);
}

void format_shm_ring(const ShmMapping& mapping, std::size_t capacity_bytes) {
  auto* header = new (mapping.data()) ShmRingHeader{};
  header->capacity_bytes = capacity_bytes;
  header->magic = kMagic;
}

Result<ShmRingHeader*> open_shm_ring(const ShmMapping& mapping, const std::string& name) {
  if (mapping.size() <= kShmRingDataOffset) {
    return corruption("{}: {} bytes are too few for a ring", name, mapping.size());
  }
  auto* header = std::launder(reinterpret_cast<ShmRingHeader*>(mapping.data()));
  const std::size_t capacity = mapping.size() - kShmRingDataOffset;
  if (header->magic != kMagic || header->capacity_bytes != capacity) {
    return corruption("{}: not a ring of this version (magic {:#x}, expected {:#x}; capacity {}, file has {})", name,
                      header->magic, kMagic, header->capacity_bytes, capacity);
  }
  ISTHMUS_RETURN_IF_ERROR(check_shm_ring_capacity(capacity).with_context(name));
  const std::uint64_t head = header->head.load(), tail = header->tail.load();
  if (head != 0 || tail != 0) {
    return corruption("{}: already used by another writer (head {}, tail {})", name, head, tail);
  }
  return header;
}

}  // namespace isthmus
