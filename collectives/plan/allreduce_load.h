// What an allreduce puts on the line of each site, and how long its way is: counts of bytes, messages and delays per
// algorithm. The schedules do exactly this (ALGORITHMS.md); the tests compare the two.
//
// Threads: pure functions, any thread. Cost: O(S) for one load, O(S^2) for delays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/network.h"
#include "collectives/schedule/allreduce_algorithm.h"

namespace isthmus {

// How the elements of an allreduce are laid out over the sites.
struct AllreduceLayout {
  AllreduceAlgorithm algorithm = AllreduceAlgorithm::kExchange;
  std::vector<std::uint32_t> owner_weights;  // kDirect, kRing: one per site
  std::vector<int> site_order;               // kRing, kTree: a permutation
};

// In units of the size of the buffer.
struct SiteLoad {
  double up = 0, down = 0;
  double wide_up = 0, wide_down = 0;  // the part of it that halves carry as fp32
};

std::vector<SiteLoad> site_loads(const AllreduceLayout& layout);

// What goes from one site to another, in units of the size of the buffer (halves as halves).
double pair_load(const AllreduceLayout& layout, int from, int to);

// Messages that the busiest site sends, when every owner block (exchange: the whole; tree: each half) is cut in
// `chunks` pieces.
double messages_per_site(AllreduceAlgorithm algorithm, int sites, double chunks);

// Microseconds that the first chunk is on its way, from the first send to the last site that has the result.
std::int64_t longest_way_us(const Network& network, const AllreduceLayout& layout);

}  // namespace isthmus
