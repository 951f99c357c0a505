// `isthmus secret new`: makes a job secret, to standard output or into a file that only its owner can read.
//
// Threads: the main thread.
#pragma once

#include <span>

namespace isthmus::cli {

int run_secret(std::span<char*> arguments);

}  // namespace isthmus::cli
