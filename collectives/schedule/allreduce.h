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
#include <string_view>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

enum class AllreduceAlgorithm : std::uint8_t {
  kExchange,  // every site sends its partial to every other: one one-way trip, (S-1) x size per site
  kDirect,    // partials to the owner, results back to all: two one-way trips, 2(S-1)/S x size per site
  kRing,      // neighbours only: 2(S-1) one-way trips, 2(S-1)/S x size per site (halves: 1.5 x)
};
inline constexpr int kAllreduceAlgorithmCount = 3;

std::string_view allreduce_algorithm_name(AllreduceAlgorithm algorithm);  // "exchange", "direct", "ring"

// Whether it sums in site order whatever the place of an element in the buffer: results repeat across shapes.
bool is_in_site_order(AllreduceAlgorithm algorithm);

// The option `algorithm`: a name, or "auto", which is exchange for one or two sites and direct for more.
// invalid_argument: another text; the message lists the names.
Result<AllreduceAlgorithm> parse_allreduce_algorithm(std::string_view option, int site_count);

struct AllreduceRequest {
  int rank = 0;
  std::size_t count = 0;  // elements; the same on every rank, as are all fields but `rank`
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  AllreduceAlgorithm algorithm = AllreduceAlgorithm::kExchange;
  std::size_t chunk_bytes = 256 * 1024;
  // kDirect, kRing: how much of the buffer each site owns, in proportion; one per site, not all 0. Empty: equal.
  std::vector<std::uint32_t> owner_weights;
};

// Input and output are `count` elements; they are the same memory or do not overlap. `op` must pass check_reducible.
// No elements: an empty schedule, which is complete at once (an allreduce of nothing does not wait for anyone).
Schedule build_allreduce(const SiteMap& sites, const AllreduceRequest& request);

}  // namespace isthmus
