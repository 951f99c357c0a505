// What every call checks of its arguments before anything is sent. Messages begin with the operation's name.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace isthmus {

// Elements of the block of every rank.
struct Counts {
  std::vector<std::size_t> of_rank;
  bool is_equal = true;  // given as one number

  static Counts equal(std::size_t count, int ranks) {
    return {std::vector<std::size_t>(static_cast<std::size_t>(ranks), count), true};
  }
  static Counts each(std::span<const std::size_t> counts) { return {{counts.begin(), counts.end()}, false}; }
};

// The same in bytes, as `rank` sees it. `counts` have passed check_counts.
struct BlockBytes {
  BlockBytes(const Counts& counts, int rank, DataType type);
  std::vector<std::size_t> of_rank;
  std::size_t total = 0, own = 0, before_own = 0;
};

// A pointer may be null only where no bytes are expected.
Status check_pointer(std::string_view operation, std::string_view name, const void* pointer, std::size_t bytes);

// Buffers are apart, or `recv` lies exactly `in_place_bytes` after `send` (or before it, for the other way round).
Status check_overlap(std::string_view operation, const void* send, std::size_t send_bytes, const void* recv,
                     std::size_t recv_bytes, std::ptrdiff_t in_place_bytes);

// Buffers are apart.
Status check_apart(std::string_view operation, const void* send, std::size_t send_bytes, const void* recv,
                   std::size_t recv_bytes);

Status check_rank(std::string_view operation, std::string_view name, int rank, int size);

// One count per rank, and a buffer can hold them all.
Status check_block_counts(std::string_view operation, const Counts& counts, int ranks, DataType type);

}  // namespace isthmus
