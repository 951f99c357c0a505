// Ends what a process has started, and nothing else.
//
// Threads: one thread at a time, in the process whose descendants are meant.
#pragma once

#include <sys/types.h>

#include <string>

namespace isthmus::lab {

// From now on orphans below this process become its children, even those that left their session.
void adopt_orphans();

// Kills all descendants (SIGKILL) and reaps them. Needs adopt_orphans(). Only children are killed, by process id: one
// that is not yet reaped cannot have passed its id on.
void kill_descendants();

// Kills every process whose environment holds `entry` ("NAME=value"), through a descriptor of the process, so that a
// reused process id is never hit. Returns how many.
int kill_by_environment(const std::string& entry);

}  // namespace isthmus::lab
