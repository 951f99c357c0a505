// Statuses of the C API as exceptions that torch carries into Python.
//
// Threads: any thread.
//
//   invalid_argument -> c10::ValueError          (ValueError)
//   unsupported      -> c10::NotImplementedError (NotImplementedError)
//   all others       -> c10::DistBackendError    (torch.distributed.DistBackendError, a RuntimeError)
//
// The text is "isthmus: <category>: <message of the library>", so that a deadline ("deadline_exceeded") and a peer that
// is gone ("unavailable") can be told apart; Backend::getError does it for programs.
#pragma once

#include <c10/util/Exception.h>
#include <isthmus/isthmus.h>

#include <exception>
#include <string>

namespace isthmus::torch_binding {

// For a status that came with its message, such as a completion callback's.
std::exception_ptr to_exception(isthmus_status status, const std::string& message);

[[noreturn]] void throw_status(isthmus_status status, const std::string& message);

// For the C function that returned `status` on this thread just now.
void check_status(isthmus_status status);

}  // namespace isthmus::torch_binding
