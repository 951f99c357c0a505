// The algorithms of an allreduce between sites, and their names.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

enum class AllreduceAlgorithm : std::uint8_t {  // on the wire: never renumber
  kExchange = 0,  // every site sends its partial to every other: one one-way trip, (S-1) x size per site
  kDirect = 1,    // partials to the owner, results back to all: two one-way trips, 2(S-1)/S x size per site
  kRing = 2,      // neighbours only: 2(S-1) one-way trips, 2(S-1)/S x size per site (halves: 1.5 x)
  kTree = 3,      // two binary trees: 2 floor(log2 S) one-way trips, at most 2 x size per site (halves: 1.5 x)
};
inline constexpr int kAllreduceAlgorithmCount = 4;

std::string_view allreduce_algorithm_name(AllreduceAlgorithm algorithm);  // "exchange", "direct", "ring", "tree"

// Whether it sums in site order whatever the place of an element in the buffer: results repeat across shapes.
bool is_in_site_order(AllreduceAlgorithm algorithm);

// The option `algorithm`: a name, or "auto", which forces none.
// invalid_argument: another text; the message lists the names.
Result<std::optional<AllreduceAlgorithm>> parse_allreduce_algorithm(std::string_view option);

}  // namespace isthmus
