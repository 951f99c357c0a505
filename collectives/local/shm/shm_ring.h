// The layout of a ring of messages in shared memory, between one writer and one reader.
//
// Threads: see ShmRingWriter and ShmRingReader; the functions here are for any thread.
//
// `head` counts the bytes ever written and `tail` those ever read; both only grow, and their difference is what waits
// in the ring. A record is a u64 length, eight unused bytes and the message, rounded up to 16 bytes. A message is
// always contiguous: where it would cross the end of the ring, a record of length kShmRingSkip fills the rest and the
// message starts at the beginning. A message takes at most half of the ring, so that an empty ring has room for it
// wherever it starts.
//
// Sleep and wake. A side that finds nothing to do announces that it will sleep (`reader_sleeps`, `writer_needs`), looks
// once more, and only then sleeps; the other side publishes its counter and then looks at the announcement. All four
// accesses are sequentially consistent, so in their single order one of the two sides comes second and sees the other:
// either the sleeper sees the new counter and stays awake, or the publisher sees the announcement and must wake it. No
// wake-up is lost, and none is paid for while the other side is awake. (Sequentially consistent accesses instead of
// fences: as cheap here, and the thread sanitizer understands them.) Who takes an announcement back with a wake-up
// uses an exchange, so that each announcement costs at most one wake-up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/local/shm/shm_mapping.h"
#include "runtime/base/status.h"

namespace isthmus {

inline constexpr std::size_t kDefaultShmRingBytes = 1024 * 1024;
inline constexpr std::size_t kMinShmRingBytes = 4 * 1024;
inline constexpr std::size_t kMaxShmRingBytes = 1024 * 1024 * 1024;

inline constexpr std::size_t kShmRecordAlign = 16;  // alignment of a message; also the bytes before it
inline constexpr std::size_t kShmRingDataOffset = 4096;
inline constexpr std::uint64_t kShmRingSkip = ~std::uint64_t{0};

// Two cache lines apart, because processors fetch lines in pairs.
struct ShmRingHeader {
  std::uint64_t magic = 0;
  std::uint64_t capacity_bytes = 0;
  alignas(128) std::atomic<std::uint64_t> head;           // stored by the writer
  alignas(128) std::atomic<std::uint64_t> tail;           // stored by the reader
  alignas(128) std::atomic<std::uint64_t> reader_sleeps;  // 1: wake the reader after the next message
  alignas(128) std::atomic<std::uint64_t> writer_needs;   // not 0: wake the writer when this many bytes are free
};
static_assert(sizeof(ShmRingHeader) <= kShmRingDataOffset);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "atomics that other processes see must not lock");

constexpr std::uint64_t shm_record_bytes(std::uint64_t message_bytes) {
  return kShmRecordAlign + ((message_bytes + kShmRecordAlign - 1) & ~std::uint64_t{kShmRecordAlign - 1});
}
constexpr std::size_t shm_max_message_bytes(std::size_t capacity_bytes) { return capacity_bytes / 2 - kShmRecordAlign; }

// invalid_argument unless it is a power of two within the limits above.
Status check_shm_ring_capacity(std::size_t capacity_bytes);

// Lays out an empty ring in a new mapping of kShmRingDataOffset + capacity_bytes.
void format_shm_ring(const ShmMapping& mapping, std::size_t capacity_bytes);

// The header, once it and the mapping's size agree. corruption: not a ring, or not an unused one.
Result<ShmRingHeader*> open_shm_ring(const ShmMapping& mapping, const std::string& name);

}  // namespace isthmus
