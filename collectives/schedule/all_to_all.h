// All-to-all: every rank sends a block of its own to every other.
//
// Threads: pure functions, any thread.
//
// ALGORITHMS.md says what each algorithm costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/base/status.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

enum class AllToAllAlgorithm : std::uint8_t {
  kPairwise,  // straight from rank to rank: L x L messages per pair of sites
  kStaged,    // gathered at one rank of a site, sent as one message per pair of sites, and handed out
};

std::string_view all_to_all_algorithm_name(AllToAllAlgorithm algorithm);

// The option `all_to_all`: a name, or "auto", which is kStaged while the message for the largest pair of sites is
// small. invalid_argument: another text.
Result<AllToAllAlgorithm> parse_all_to_all_algorithm(std::string_view option, const SiteMap& sites,
                                                     std::size_t block_bytes);

struct AllToAllRequest {
  int rank = 0;
  std::size_t block_bytes = 0;
  AllToAllAlgorithm algorithm = AllToAllAlgorithm::kPairwise;
};

// Input: a block for every rank, in rank order. Output: a block from every rank, in rank order. They do not overlap. No
// bytes: an empty schedule.
Schedule build_all_to_all(const SiteMap& sites, const AllToAllRequest& request);

struct AllToAllVRequest {
  int rank = 0;
  std::vector<std::size_t> send_bytes, recv_bytes;  // by rank, the own included (both sides of it are equal)
};

// The same with blocks of any size, in rank order without gaps; pairwise. Each pair of ranks exchanges a message each
// way even when it is empty: a rank knows only its own sizes, and so the two ends compare them.
Schedule build_all_to_all_v(const SiteMap& sites, const AllToAllVRequest& request);

}  // namespace isthmus
