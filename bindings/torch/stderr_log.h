// Where the library's log goes in a Python process: lines on standard error,
// "[isthmus][rank 3] warning: ...". Native, since lines come from threads that must never wait for the GIL.
//
// Threads: any thread.
#pragma once

#include <string>

namespace isthmus::torch_binding {

// `level`: value of the option log_level. `rank`: global rank of this process.
void log_to_stderr(const std::string& level, int rank);

}  // namespace isthmus::torch_binding
