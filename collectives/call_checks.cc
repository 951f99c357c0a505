#include "collectives/call_checks.h"

#include <cstdint>

namespace isthmus {

Status check_pointer(std::string_view operation, std::string_view name, const void* pointer, std::size_t bytes) {
  if (pointer != nullptr || bytes == 0) return Status();
  return invalid_argument("{}: {} is null, {} bytes are expected there", operation, name, bytes);
}

// Buffers are apart, or `recv` lies exactly `in_place_bytes` after `send` (or before it, for the other way round).
Status check_overlap(std::string_view operation, const void* send, std::size_t send_bytes, const void* recv,
                     std::size_t recv_bytes, std::ptrdiff_t in_place_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(send), b = reinterpret_cast<std::uintptr_t>(recv);
  if (send_bytes == 0 || recv_bytes == 0) return Status();
  if (a + send_bytes <= b || b + recv_bytes <= a) return Status();
  if (static_cast<std::ptrdiff_t>(b - a) == in_place_bytes) return Status();
  return invalid_argument("{}: send and recv overlap without being in place (recv is {} bytes after send)", operation,
                          static_cast<std::ptrdiff_t>(b - a));
}

Status check_rank(std::string_view operation, std::string_view name, int rank, int size) {
  if (rank >= 0 && rank < size) return Status();
  return invalid_argument("{}: {} {} is not in 0..{}", operation, name, rank, size - 1);
}

Status check_apart(std::string_view operation, const void* send, std::size_t send_bytes, const void* recv,
                   std::size_t recv_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(send), b = reinterpret_cast<std::uintptr_t>(recv);
  if (send_bytes == 0 || recv_bytes == 0 || a + send_bytes <= b || b + recv_bytes <= a) return Status();
  return invalid_argument("{}: send and recv overlap (recv is {} bytes after send); it cannot be done in place",
                          operation, static_cast<std::ptrdiff_t>(b - a));
}

Status check_block_counts(std::string_view operation, const Counts& counts, int ranks, DataType type) {
  if (counts.of_rank.size() != static_cast<std::size_t>(ranks))
    return invalid_argument("{}: {} counts for {} ranks", operation, counts.of_rank.size(), ranks);
  const std::size_t limit = SIZE_MAX / 2 / dtype_size_bytes(type);
  std::size_t total = 0;
  for (std::size_t rank = 0; rank < counts.of_rank.size(); ++rank) {
    if (counts.of_rank[rank] > limit - total)
      return invalid_argument("{}: count {} of rank {} makes more than a buffer can hold ({})", operation,
                              counts.of_rank[rank], rank, limit);
    total += counts.of_rank[rank];
  }
  return Status();
}

BlockBytes::BlockBytes(const Counts& counts, int rank, DataType type) {
  for (std::size_t r = 0; r < counts.of_rank.size(); ++r) {
    of_rank.push_back(counts.of_rank[r] * dtype_size_bytes(type));
    if (static_cast<int>(r) == rank) before_own = total;
    total += of_rank.back();
  }
  own = of_rank[static_cast<std::size_t>(rank)];
}

}  // namespace isthmus
