// The site tier of a communicator: which channel joins the ranks of one site. Mates on one host use shared memory,
// mates on different hosts a link; the option site_tier forces one of them.
//
// Threads: blocks the calling thread; one communicator of a process is made at a time.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/group.h"
#include "runtime/engine/runtime.h"

namespace isthmus {

// Collective: makes the shared memory that this group needs and the process does not have yet.
// unavailable: /dev/shm cannot be used (the message says why and names the option).
Status connect_site_tier(Runtime& runtime, Store& store, const GroupTable& table, int rank, TimePoint deadline);

// Fills the channels of mates that share memory with `rank`; the others keep nullptr, and so get a link.
void use_site_tier(Runtime& runtime, const GroupTable& table, int rank, GroupConfig* config);

}  // namespace isthmus
