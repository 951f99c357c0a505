#include "bindings/c/handles.h"
#include "isthmus/version.h"

namespace isthmus::c_api {
namespace {
thread_local std::string last_error;
}

isthmus_status report(const Status& status) {
  if (!status.ok()) last_error = status.message();
  return static_cast<isthmus_status>(status.code());
}

}  // namespace isthmus::c_api

static_assert(static_cast<int>(isthmus::StatusCode::kInternal) == ISTHMUS_INTERNAL);
static_assert(static_cast<int>(isthmus::DataType::kBool) == ISTHMUS_BOOL);
static_assert(static_cast<int>(isthmus::ReduceOp::kProduct) == ISTHMUS_PRODUCT);

const char* isthmus_status_name(isthmus_status status) {
  return isthmus::status_code_name(static_cast<isthmus::StatusCode>(status)).data();
}

const char* isthmus_last_error(void) { return isthmus::c_api::last_error.c_str(); }
