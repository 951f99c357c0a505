// In which order sites are neighbours in a ring or a tree: fast and near ones beside each other.
//
// Threads: pure functions, any thread. Cost: O(S^2).
#pragma once

#include <vector>

#include "collectives/plan/network.h"

namespace isthmus {

// From site 0, always on to the site with the fastest way there and back that is not in the order yet; among equally
// fast ones the nearest, then the lowest. A permutation.
std::vector<int> neighbour_order(const Network& network);

}  // namespace isthmus
