// What no allreduce can beat on a network, whatever its algorithm.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstdint>

#include "collectives/plan/network.h"

namespace isthmus {

// Seconds: max(max_i size / min(up_i, down_i), 2(S-1) size / sum of up, 2(S-1) size / sum of down), of the lines' own
// rates. Every site sends its partial and receives the result; and all together at least 2(S-1) partials or results
// cross the WAN. 0 for one site.
double allreduce_lower_bound(const Network& network, std::int64_t bytes);

}  // namespace isthmus
