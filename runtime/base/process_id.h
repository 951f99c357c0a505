// Names one process (one runtime) for its whole life: random and never 0. Links and control connections are keyed by
// it, not by the ranks of a group.
#pragma once

#include <cstdint>

namespace isthmus {

using ProcessId = std::uint64_t;

}  // namespace isthmus
