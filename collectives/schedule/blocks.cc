#include "collectives/schedule/blocks.h"

#include <algorithm>
#include <numeric>

namespace isthmus {

Blocks::Blocks(std::span<const std::size_t> counts, std::size_t element_bytes, std::size_t chunk_bytes) {
  total_ = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  // Every block may have one chunk that is not full.
  const std::size_t fewest = std::max<std::size_t>(1, kMaxChunks / 2);
  const std::size_t largest = std::max(chunk_elements(0, element_bytes, chunk_bytes), total_ / fewest + 1);
  blocks_.reserve(counts.size());
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    const std::size_t chunks = chunk_count(count, largest);
    blocks_.push_back({{begin, count}, chunks, static_cast<std::uint32_t>(all_chunks_)});
    begin += count;
    all_chunks_ += chunks;
    max_chunks_ = std::max(max_chunks_, chunks);
  }
}

}  // namespace isthmus
