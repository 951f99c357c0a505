// One run of the lab, from the namespaces to the exit status.
//
// Threads: one thread at a time, in a process without other threads.
#pragma once

#include "benchmarks/lab/options.h"

namespace isthmus::lab {

// Runs the command in every rank and returns the status to exit with. Prints to standard output and error.
// `environment` ends with a null pointer.
Result<int> run_lab(const LabOptions& options, const char* const* environment);

}  // namespace isthmus::lab
