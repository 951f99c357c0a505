// Blocks: one contiguous block per rank in a buffer, each cut in chunks of its own. The blocks may differ in size; what
// is computed here is the same on every rank.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/schedule/builder.h"
#include "collectives/schedule/chunks.h"

namespace isthmus {

class Blocks {
 public:
  // `counts`: elements of each rank's block, in rank order. Chunks have at most `chunk_bytes`, or more where all blocks
  // together would need more than kMaxChunks.
  Blocks(std::span<const std::size_t> counts, std::size_t element_bytes, std::size_t chunk_bytes);

  std::size_t total() const { return total_; }            // elements of all blocks
  std::size_t max_chunks() const { return max_chunks_; }  // of one block
  std::size_t all_chunks() const { return all_chunks_; }
  const Range& block(int rank) const { return of(rank).range; }
  std::size_t chunks(int rank) const { return of(rank).chunks; }

  // Chunk `index` of a rank's block, in elements: from the start of the block, and from the start of the buffer.
  Range in_block(int rank, std::size_t index) const { return split_evenly({0, block(rank).size}, chunks(rank), index); }
  Range in_buffer(int rank, std::size_t index) const { return split_evenly(block(rank), chunks(rank), index); }

  std::uint32_t round(int rank, std::size_t index, Phase phase) const {
    return round_of(of(rank).first_number + static_cast<std::uint32_t>(index), phase);
  }

 private:
  struct Block {
    Range range;
    std::size_t chunks = 0;
    std::uint32_t first_number = 0;
  };
  const Block& of(int rank) const { return blocks_[static_cast<std::size_t>(rank)]; }

  std::vector<Block> blocks_;
  std::size_t total_ = 0, max_chunks_ = 0, all_chunks_ = 0;
};

}  // namespace isthmus
