// Ping: one byte there and one back, answered by the engine itself, so that it takes the round trip and nothing else.
//
// Threads: pure functions, any thread.
#pragma once

#include "runtime/engine/schedule.h"

namespace isthmus {

Schedule build_ping(int peer, bool starts);  // the other side has it with `starts` the other way round

}  // namespace isthmus
