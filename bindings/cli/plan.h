// `isthmus plan`: how an allreduce would be done on a network, and why.
//
// Threads: the main thread.
#pragma once

#include <span>

namespace isthmus::cli {

int run_plan(std::span<char*> arguments);

}  // namespace isthmus::cli
