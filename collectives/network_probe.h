// Measures the ways between the sites of a communicator, with its own links.
//
// Threads: blocks the calling thread. Collective.
//
// The first rank of each site times a ping to those of the others (after one that lets links be dialled), and then how
// long messages take while all send to all: 64 KiB first, then four times as much, until a round took a third of the
// limit, so that what counts was sent on lines that are warm. All sites stop after the same round. Takes a few round
// trips and about `limit`; a slower start of the lines makes it longer, by one round at most.
#pragma once

#include <vector>

#include "collectives/plan/measured_network.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace isthmus {

class Communicator;

inline constexpr int kMaxProbedSites = 32;

// By here * sites + there, equal on every rank.
Result<std::vector<PathSample>> probe_paths(Communicator& communicator, Duration limit);

}  // namespace isthmus
