// What `isthmus lab ctl` can ask of a running lab.
//
// Threads: one thread at a time; the caller keeps the Wan still.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/lab/forwarder.h"
#include "benchmarks/lab/wan.h"

namespace isthmus::lab {

// One line per command.
std::string control_usage();

// Carries out {"cut", "a", "b"} and the like. Returns what to print. Nothing is changed when it is an error.
Result<std::string> run_control_command(const std::vector<std::string>& words, Wan& wan,
                                        const ForwarderCounters& forwarder, Duration elapsed);

}  // namespace isthmus::lab
