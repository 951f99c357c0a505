// All-gather: each rank sends its block to its mates and to one rank of each other site, which relays it to its mates.
// Each block crosses the WAN once per other site. Blocks may differ in size.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

struct AllGatherRequest {
  int rank = 0;
  std::vector<std::size_t> block_bytes;  // of every rank
  std::size_t chunk_bytes = 256 * 1024;
};

// Input: the own block. Output: that of every rank, in rank order. In place: the input is the own block of the output
// (the step that copies it there then has the same memory on both sides); other overlaps are not allowed. No bytes: an
// empty schedule.
Schedule build_all_gather(const SiteMap& sites, const AllGatherRequest& request);

}  // namespace isthmus
