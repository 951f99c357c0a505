// How elements are cut: shards, owner blocks and chunks, the same on every rank by arithmetic alone.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace isthmus {

// Consecutive elements (or bytes).
struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::size_t end() const { return begin + size; }
};

// Part `index` of `parts` of `whole`: contiguous, sizes differ by at most one, the longer ones first.
Range split_evenly(Range whole, std::size_t parts, std::size_t index);

// The parts of `whole` in proportion to `weights` (at least one of them is not 0), each within one element of its
// exact share. All weights equal: sizes differ by at most one.
std::vector<Range> split_by_weight(Range whole, std::span<const std::uint32_t> weights);

// The largest chunk in elements: `chunk_bytes` or less, but at least one element, and enough for `count` elements to
// need at most kMaxChunks.
std::size_t chunk_elements(std::size_t count, std::size_t element_bytes, std::size_t chunk_bytes);
inline constexpr std::size_t kMaxChunks = std::size_t{1} << 24;

// Chunks that `count` elements are cut in: as few as `max_elements` allows, then as equal as possible.
std::size_t chunk_count(std::size_t count, std::size_t max_elements);

// A piece of a buffer that flows through the tiers on its own.
struct Chunk {
  Range range;
  int shard = 0;             // handled in site s by SiteMap::handler(s, shard)
  int owner = 0;             // the site that finishes it; 0 where there is no owner
  std::uint32_t number = 0;  // unique in the operation, the same on every rank: rounds are made of it
};

// Every chunk of `count` elements cut in `shards` shards, each of which is cut in owner blocks by weight. Their numbers
// are the same whatever `first_owner` is; their order is one to work in: the first chunk of every block, then the
// second of every block, and so on, beginning with the blocks of `first_owner`. So every peer gets work early, and
// sites that begin with different owners do not all send to the same one.
std::vector<Chunk> cut_chunks(std::size_t count, std::size_t shards, std::span<const std::uint32_t> owner_weights,
                              std::size_t max_elements, std::size_t first_owner);

}  // namespace isthmus
