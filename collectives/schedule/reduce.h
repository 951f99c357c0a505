// Reduce: inputs meet at the handler of their shard in each site, the handlers' partials at the owner's handler, which
// reduces them in site order and sends the result to the root.
//
// Threads: pure functions, any thread.
//
// ALGORITHMS.md says what each algorithm costs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

enum class ReduceAlgorithm : std::uint8_t {
  kToRoot,  // the root's site owns everything: one one-way trip, (S-1) x size into the root's site
  kOwners,  // every site owns an equal part: two one-way trips, 2(S-1)/S x size into the root's site
};

// kToRoot for at most two sites (as many bytes, and half the trips) and where one chunk holds the whole; else kOwners.
ReduceAlgorithm choose_reduce_algorithm(int site_count, std::size_t bytes, std::size_t chunk_bytes);

struct ReduceRequest {
  int rank = 0;
  int root = 0;
  std::size_t count = 0;  // elements; the same on every rank, as are all fields but `rank`
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  ReduceAlgorithm algorithm = ReduceAlgorithm::kToRoot;
  std::size_t chunk_bytes = 256 * 1024;
};

// Input: `count` elements. Output: at the root `count` elements, the input's memory or apart from it; elsewhere none.
// `op` must pass check_reducible. No elements: an empty schedule.
Schedule build_reduce(const SiteMap& sites, const ReduceRequest& request);

}  // namespace isthmus
