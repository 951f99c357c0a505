// Broadcast: the root sends to its mates and to one rank of each other site, which relays to its mates. Each byte
// crosses the WAN once per other site.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstddef>

#include "collectives/site_map.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

struct BroadcastRequest {
  int rank = 0;
  int root = 0;
  std::size_t bytes = 0;
  std::size_t chunk_bytes = 256 * 1024;
};

// One buffer of `bytes`: the output. At the root it holds the payload when the operation starts, and nothing writes to
// it; there is no input. No bytes: an empty schedule.
Schedule build_broadcast(const SiteMap& sites, const BroadcastRequest& request);

}  // namespace isthmus
