// Reduce-scatter: each site reduces the block of a rank at one of its own ranks, which sends the partial over the WAN
// to the block's rank; that rank reduces the partials in site order.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

struct ReduceScatterRequest {
  int rank = 0;
  std::vector<std::size_t> block_counts;  // elements of every rank's output
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t chunk_bytes = 256 * 1024;
};

// Input: the blocks of all ranks, in rank order. Output: the own block, reduced. In place: the output is the own block
// of the input; other overlaps are not allowed. `op` must pass check_reducible. No elements: an empty schedule.
Schedule build_reduce_scatter(const SiteMap& sites, const ReduceScatterRequest& request);

}  // namespace isthmus
