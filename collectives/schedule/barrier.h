// Barrier: empty transfers from the ranks of a site to its first rank, between the first ranks of all sites, and back.
// One one-way trip over the WAN; no buffers.
//
// Threads: pure functions, any thread.
#pragma once

#include "collectives/site_map.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

Schedule build_barrier(const SiteMap& sites, int rank);

}  // namespace isthmus
