// `isthmus simulate`: runs the schedules of an allreduce on a computed network.
//
// Threads: the main thread.
#pragma once

#include <span>

namespace isthmus::cli {

int run_simulate(std::span<char*> arguments);

}  // namespace isthmus::cli
