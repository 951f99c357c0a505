#include "runtime/transport/libfabric/error.h"

#include <rdma/fi_errno.h>

#include <cerrno>
#include <cstdlib>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

StatusCode category(int error) {
  switch (error) {
    case FI_ETRUNC:
    case FI_ETOOSMALL:
    case FI_EOVERRUN:
    case FI_EMSGSIZE: return StatusCode::kCorruption;
    case FI_ECANCELED: return StatusCode::kAborted;
    case FI_ENOSYS:
    case FI_EOPNOTSUPP:
    case FI_ENOPROTOOPT:
    case EAFNOSUPPORT:
    case FI_ENODATA: return StatusCode::kUnsupported;
    case FI_EINVAL:
    case FI_EFAULT:
    case FI_EBADF:
    case FI_EBADFLAGS:
    case FI_EOPBADSTATE: return StatusCode::kInternal;
    default: return StatusCode::kUnavailable;  // refused, reset, unreachable, timed out, out of descriptors, ...
  }
}

}  // namespace

Status libfabric_error(int error, std::string_view what) {
  const int number = std::abs(error);
  const std::string text =
      number < FI_ERRNO_OFFSET ? errno_message(number) : fmt::format("{} (libfabric {})", fi_strerror(number), number);
  return Status(category(number), fmt::format("{}: {}", what, text));
}

}  // namespace isthmus
