#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {

void throw_status(isthmus_status status, const std::string& message) {
  const std::string text = std::string("isthmus: ") + isthmus_status_name(status) + ": " + message;
  switch (status) {
    case ISTHMUS_INVALID_ARGUMENT: C10_THROW_ERROR(ValueError, text);
    case ISTHMUS_UNSUPPORTED: C10_THROW_ERROR(NotImplementedError, text);
    default: C10_THROW_ERROR(DistBackendError, text);
  }
}

std::exception_ptr to_exception(isthmus_status status, const std::string& message) {
  try {
    throw_status(status, message);
  } catch (...) {
    return std::current_exception();
  }
}

void check_status(isthmus_status status) {
  if (status != ISTHMUS_OK) throw_status(status, isthmus_last_error());
}

}  // namespace isthmus::torch_binding
