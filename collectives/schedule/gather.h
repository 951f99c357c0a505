// Gather: every rank sends its block straight to the root. Scatter: the root sends every rank its block. Blocks may
// differ in size; those without bytes are not sent.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/engine/schedule.h"

namespace isthmus {

struct RootedRequest {
  int rank = 0;
  int root = 0;
  std::vector<std::size_t> block_bytes;  // of every rank
};

// Input: the own block. Output: at the root the blocks of all ranks, in rank order; elsewhere none. In place: the
// root's input is its own block of the output; other overlaps are not allowed. No bytes: an empty schedule.
Schedule build_gather(const RootedRequest& request);

// Input: at the root the blocks of all ranks, in rank order; elsewhere none. Output: the own block. In place: the
// root's output is its own block of the input; other overlaps are not allowed. No bytes: an empty schedule.
Schedule build_scatter(const RootedRequest& request);

}  // namespace isthmus
