// Allreduce between sites, hierarchical in every algorithm: inputs meet at the handler of their shard in each site, the
// handlers combine the partials of the sites over the WAN, and hand the result to their mates. Chunks flow on their
// own.
//
// Threads: pure functions, any thread.
//
// ALGORITHMS.md says what each algorithm costs and in which order it sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/schedule/allreduce_algorithm.h"
#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

struct AllreduceRequest {
  int rank = 0;
  std::size_t count = 0;  // elements; the same on every rank, as are all fields but `rank`
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  AllreduceAlgorithm algorithm = AllreduceAlgorithm::kExchange;
  std::size_t chunk_bytes = 256 * 1024;
  // kDirect, kRing: how much of the buffer each site owns, in proportion; one per site, not all 0. Empty: equal.
  std::vector<std::uint32_t> owner_weights;
  // kRing, kTree: the sites in the order in which they are neighbours; a permutation. Empty: 0, 1, ...
  std::vector<int> site_order;
};

// Input and output are `count` elements; they are the same memory or do not overlap. `op` must pass check_reducible.
// No elements: an empty schedule, which is complete at once (an allreduce of nothing does not wait for anyone).
Schedule build_allreduce(const SiteMap& sites, const AllreduceRequest& request);

}  // namespace isthmus
