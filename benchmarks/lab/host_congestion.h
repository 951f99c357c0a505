// The host's list of congestion controls that a network namespace may take. What the lab adds, it takes out again.
//
// Threads: one thread at a time, in the host's network namespace, with the BaseLock held.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus::lab {

// Adds `name` to the list if root may and it is missing, after a note of it in `base`, so that a later lab can take it
// out should this one be killed. Unsupported when the kernel has no such algorithm. Not being allowed to add it is no
// error: the namespace may accept it nevertheless, and its own check decides.
Status allow_congestion(const std::string& base, const std::string& name);

// Takes out what a note says was added. Call it when no lab lives.
Status restore_congestion(const std::string& base);

// `list` without `removed`, as the kernel wants it: words with blanks between.
std::string list_without(const std::string& list, const std::vector<std::string>& removed);

}  // namespace isthmus::lab
