// The environment of a rank: the caller's, with what torchrun would set and the name of the site.
//
// Threads: one thread at a time; the caller's environment must not change meanwhile.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/lab/topology.h"

namespace isthmus::lab {

// Of local rank `local_rank` of `site`. `mark` ("NAME=value") comes along. `inherited` ends with a null pointer.
std::vector<std::string> rank_environment(const char* const* inherited, const Topology& topology, int site,
                                          int local_rank, int master_port, const std::string& mark);

}  // namespace isthmus::lab
