#include "bindings/torch/types.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <optional>

namespace isthmus::torch_binding {
namespace {

constexpr const char* kTypes = "float32, float64, float16, bfloat16, int8, uint8, int16, int32, int64, bool";

std::optional<isthmus_dtype> find_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return ISTHMUS_FLOAT32;
    case at::kDouble: return ISTHMUS_FLOAT64;
    case at::kHalf: return ISTHMUS_FLOAT16;
    case at::kBFloat16: return ISTHMUS_BFLOAT16;
    case at::kChar: return ISTHMUS_INT8;
    case at::kByte: return ISTHMUS_UINT8;
    case at::kShort: return ISTHMUS_INT16;
    case at::kInt: return ISTHMUS_INT32;
    case at::kLong: return ISTHMUS_INT64;
    case at::kBool: return ISTHMUS_BOOL;
    default: return std::nullopt;
  }
}

std::optional<isthmus_op> find_op(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM: return ISTHMUS_SUM;
    case c10d::ReduceOp::AVG: return ISTHMUS_AVG;
    case c10d::ReduceOp::MIN: return ISTHMUS_MIN;
    case c10d::ReduceOp::MAX: return ISTHMUS_MAX;
    case c10d::ReduceOp::PRODUCT: return ISTHMUS_PRODUCT;
    default: return std::nullopt;
  }
}

const char* op_name(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM: return "SUM";
    case c10d::ReduceOp::AVG: return "AVG";
    case c10d::ReduceOp::MIN: return "MIN";
    case c10d::ReduceOp::MAX: return "MAX";
    case c10d::ReduceOp::PRODUCT: return "PRODUCT";
    case c10d::ReduceOp::BAND: return "BAND";
    case c10d::ReduceOp::BOR: return "BOR";
    case c10d::ReduceOp::BXOR: return "BXOR";
    case c10d::ReduceOp::PREMUL_SUM: return "PREMUL_SUM";
    default: return "an unknown operator";
  }
}

}  // namespace

isthmus_dtype to_isthmus_dtype(at::ScalarType type, const char* operation) {
  const auto dtype = find_dtype(type);
  TORCH_CHECK_NOT_IMPLEMENTED(dtype.has_value(), "isthmus: unsupported: ", operation, " of ", c10::toString(type),
                              " tensors; supported types: ", kTypes);
  return *dtype;
}

Reduction::Reduction(const c10d::ReduceOp& op, at::ScalarType type, const char* operation)
    : dtype_(to_isthmus_dtype(type, operation)) {
  const auto found = find_op(op);
  TORCH_CHECK_NOT_IMPLEMENTED(found.has_value() && isthmus_supports_reduction(dtype_, *found) == 1,
                              "isthmus: unsupported: ", operation, " with ", op_name(op), " of ", c10::toString(type),
                              " tensors");
  op_ = *found;
}

isthmus_call_options Reduction::set(isthmus_call_options options) const { return options; }

}  // namespace isthmus::torch_binding
