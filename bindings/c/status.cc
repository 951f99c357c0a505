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
static_assert(static_cast<int>(isthmus::DataType::kFloat8E5M2FNUZ) == ISTHMUS_FLOAT8_E5M2FNUZ);
static_assert(static_cast<int>(isthmus::DataType::kComplex128) == ISTHMUS_COMPLEX128);
static_assert(isthmus::kDataTypeCount == ISTHMUS_COMPLEX128 + 1);
static_assert(static_cast<int>(isthmus::ReduceOp::kProduct) == ISTHMUS_PRODUCT);
static_assert(static_cast<int>(isthmus::ReduceOp::kBitXor) == ISTHMUS_BXOR);
static_assert(isthmus::kReduceOpCount == ISTHMUS_PREMUL_SUM + 1);

const char* isthmus_status_name(isthmus_status status) {
  return isthmus::status_code_name(static_cast<isthmus::StatusCode>(status)).data();
}

const char* isthmus_last_error(void) { return isthmus::c_api::last_error.c_str(); }
