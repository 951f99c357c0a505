#include "collectives/schedule/chunks.h"

#include <algorithm>

namespace isthmus {
namespace {

std::size_t divide_up(std::size_t value, std::size_t by) { return value / by + (value % by != 0 ? 1 : 0); }

// floor(size x part / whole) for part <= whole < 2^64, without overflow: size = q x whole + r.
std::size_t proportion(std::size_t size, std::uint64_t part, std::uint64_t whole) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>(static_cast<Wide>(size) * part / whole);
}

struct Block {
  Range range;
  int shard = 0;
  int owner = 0;
  std::size_t chunks = 0;
  std::uint32_t first_number = 0;
};

std::vector<Block> cut_blocks(std::size_t count, std::size_t shards, std::span<const std::uint32_t> owner_weights,
                              std::size_t max_elements) {
  std::vector<Block> blocks;
  blocks.reserve(shards * owner_weights.size());
  std::uint32_t next_number = 0;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    int owner = 0;
    for (const Range& range : split_by_weight(split_evenly({0, count}, shards, shard), owner_weights)) {
      const std::size_t chunks = chunk_count(range.size, max_elements);
      blocks.push_back({range, static_cast<int>(shard), owner++, chunks, next_number});
      next_number += static_cast<std::uint32_t>(chunks);
    }
  }
  return blocks;
}

// The blocks that have chunks, those of `first_owner` first, then the owners after it; shards side by side.
std::vector<Block> in_working_order(const std::vector<Block>& blocks, std::size_t shards, std::size_t owners,
                                    std::size_t first_owner) {
  std::vector<Block> ordered;
  ordered.reserve(blocks.size());
  for (std::size_t k = 0; k < owners; ++k) {
    const std::size_t owner = (first_owner + k) % owners;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      const Block& block = blocks[shard * owners + owner];
      if (block.chunks > 0) ordered.push_back(block);
    }
  }
  return ordered;
}

}  // namespace

Range split_evenly(Range whole, std::size_t parts, std::size_t index) {
  const std::size_t base = whole.size / parts, longer = whole.size % parts;
  return {whole.begin + index * base + std::min(index, longer), base + (index < longer ? 1 : 0)};
}

std::vector<Range> split_by_weight(Range whole, std::span<const std::uint32_t> weights) {
  std::uint64_t total = 0;
  for (const std::uint32_t weight : weights) total += weight;
  std::vector<Range> parts;
  parts.reserve(weights.size());
  std::uint64_t so_far = 0;
  std::size_t begin = 0;
  for (const std::uint32_t weight : weights) {
    so_far += weight;
    const std::size_t end = proportion(whole.size, so_far, total);
    parts.push_back({whole.begin + begin, end - begin});
    begin = end;
  }
  return parts;
}

std::size_t chunk_elements(std::size_t count, std::size_t element_bytes, std::size_t chunk_bytes) {
  return std::max({chunk_bytes / element_bytes, divide_up(count, kMaxChunks), std::size_t{1}});
}

std::size_t chunk_count(std::size_t count, std::size_t max_elements) { return divide_up(count, max_elements); }

std::vector<Chunk> cut_chunks(std::size_t count, std::size_t shards, std::span<const std::uint32_t> owner_weights,
                              std::size_t max_elements, std::size_t first_owner) {
  const std::vector<Block> blocks = cut_blocks(count, shards, owner_weights, max_elements);
  std::vector<Chunk> chunks;
  chunks.reserve(blocks.empty() ? 0 : blocks.back().first_number + blocks.back().chunks);
  std::vector<Block> active = in_working_order(blocks, shards, owner_weights.size(), first_owner);
  for (std::size_t index = 0; !active.empty(); ++index) {
    for (const Block& block : active) {
      chunks.push_back({split_evenly(block.range, block.chunks, index), block.shard, block.owner,
                        block.first_number + static_cast<std::uint32_t>(index)});
    }
    std::erase_if(active, [index](const Block& block) { return block.chunks == index + 1; });
  }
  return chunks;
}

}  // namespace isthmus
