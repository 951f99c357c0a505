// What must hold of the schedules of all ranks, whatever the timing; and what they cost.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/engine/schedule.h"
#include "tests/support/schedule_memory.h"

namespace isthmus::testing {

// Empty, or the first defect found in words: a dependency on a later step, a range outside its buffer, a write to an
// input that is not the output, a transfer without its other end or of another size, a round used twice, two steps that
// no dependency orders and that touch the same bytes, one of them writing.
std::string find_defect(const std::vector<Schedule>& schedules, const std::vector<BufferLayout>& layouts);

// Bytes that each site sends to other sites.
std::vector<std::size_t> wan_bytes_sent(const std::vector<Schedule>& schedules, const SiteMap& sites);

// Transfers to other sites on the longest chain of steps: the one-way trips that an operation takes.
int wan_trips(const std::vector<Schedule>& schedules, const SiteMap& sites);

}  // namespace isthmus::testing
