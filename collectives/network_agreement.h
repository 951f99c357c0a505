// How the ranks of a communicator agree on the network that they plan with.
//
// Threads: blocks the calling thread. Collective: every rank calls it at the same place among its operations.
#pragma once

#include "collectives/plan/network.h"
#include "runtime/base/status.h"

namespace isthmus {

class Communicator;

// What is planned with where nothing is known: equal lines of 100 Mbit/s, 60 ms apart.
Network assumed_network(const Communicator& communicator);

// From the file that the option sites_file of rank 0 names (its sites by the names of the communicator's), or measured:
// the first rank of every site times a ping and messages to those of all others, for about the option measure_ms of
// rank 0, and every rank hears of every result. Neither (the default): the assumed network.
// invalid_argument on every rank alike: the file is wrong or a site is missing in it.
Result<Network> agree_on_network(Communicator& communicator);

}  // namespace isthmus
