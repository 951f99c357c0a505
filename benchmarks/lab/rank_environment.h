// The environment of a rank: the caller's, with what torchrun would set, the name of the site, and the run's job
// secret.
//
// Threads: one thread at a time; the caller's environment must not change meanwhile.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/lab/topology.h"
#include "runtime/base/status.h"

namespace isthmus::lab {

// Of local rank `local_rank` of `site`. What is `added` ("NAME=value") comes along. `inherited` ends with a null
// pointer.
std::vector<std::string> rank_environment(const char* const* inherited, const Topology& topology, int site,
                                          int local_rank, int master_port, const std::vector<std::string>& added);

// "ISTHMUS_SECRET=..." with a new secret for all ranks of a run; empty where the caller's environment says already what
// is to be done about security.
Result<std::string> secret_entry(const char* const* inherited);

}  // namespace isthmus::lab
