// Send and receive: one step each. An empty message is a transfer too.
//
// Threads: pure functions, any thread.
#pragma once

#include <cstddef>

#include "runtime/engine/schedule.h"

namespace isthmus {

Schedule build_send(int to, std::size_t bytes);       // from the input
Schedule build_receive(int from, std::size_t bytes);  // into the output

}  // namespace isthmus
