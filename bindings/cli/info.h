// `isthmus info`: what this installation can do and which options it takes.
//
// Threads: the main thread.
#pragma once

#include <span>

namespace isthmus::cli {

int run_info(std::span<char*> arguments);

}  // namespace isthmus::cli
