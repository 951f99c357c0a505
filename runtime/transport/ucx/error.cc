#include "runtime/transport/ucx/error.h"

namespace isthmus {
namespace {

StatusCode category(ucs_status_t status) {
  switch (status) {
    case UCS_ERR_MESSAGE_TRUNCATED: return StatusCode::kCorruption;
    case UCS_ERR_CANCELED: return StatusCode::kAborted;
    case UCS_ERR_NOT_IMPLEMENTED:
    case UCS_ERR_UNSUPPORTED: return StatusCode::kUnsupported;
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR:
    case UCS_ERR_OUT_OF_RANGE: return StatusCode::kInternal;
    default: return StatusCode::kUnavailable;  // reset, timed out, unreachable, no device, no memory, ...
  }
}

}  // namespace

Status ucx_error(ucs_status_t status, std::string_view what) {
  return Status(category(status), fmt::format("{}: {} (UCX {})", what, ucs_status_string(status), int{status}));
}

}  // namespace isthmus
