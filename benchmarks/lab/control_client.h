// `isthmus lab ctl`.
//
// Threads: one thread at a time.
#pragma once

#include <string>
#include <vector>

namespace isthmus::lab {

// `words` without the program's name and "ctl". Prints the answer and returns the exit status.
int run_control_client(std::vector<std::string> words);

}  // namespace isthmus::lab
