// Owner shares: how much of the elements each site is to own in `direct`, so that all lines are done at the same time.
//
// Threads: pure functions, any thread. Cost: O(S log S).
//
// A site that owns the share w of `size` bytes sends (1 - w) size of partials to the other owners and (S - 1) w size of
// results, and receives as much: size (1 + (S - 2) w). With r = min(up, down) it is done after T if w is at most
// (T r / size - 1) / (S - 2). The shares add up to 1, so the least T is the larger of size / (least r), where the
// slowest site owns nothing, and the T for which these limits add up to 1. Every site then gets its limit, or, where
// the limits leave a choice, a part of it that is the same for all.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/network.h"

namespace isthmus {

// Weights as AllreduceRequest::owner_weights takes them; equal ones for fewer than three sites.
std::vector<std::uint32_t> owner_shares(const Network& network);

}  // namespace isthmus
