#include "bindings/torch/types.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <optional>

namespace isthmus::torch_binding {
namespace {

constexpr const char* kTypes =
    "float32, float64, float16, bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, int8, uint8, "
    "int16, int32, int64, bool, complex64, complex128";

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
    case at::kFloat8_e4m3fn: return ISTHMUS_FLOAT8_E4M3FN;
    case at::kFloat8_e5m2: return ISTHMUS_FLOAT8_E5M2;
    case at::kFloat8_e4m3fnuz: return ISTHMUS_FLOAT8_E4M3FNUZ;
    case at::kFloat8_e5m2fnuz: return ISTHMUS_FLOAT8_E5M2FNUZ;
    case at::kComplexFloat: return ISTHMUS_COMPLEX64;
    case at::kComplexDouble: return ISTHMUS_COMPLEX128;
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
    case c10d::ReduceOp::BAND: return ISTHMUS_BAND;
    case c10d::ReduceOp::BOR: return ISTHMUS_BOR;
    case c10d::ReduceOp::BXOR: return ISTHMUS_BXOR;
    case c10d::ReduceOp::PREMUL_SUM: return ISTHMUS_PREMUL_SUM;
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

// torch keeps it beside the operator, as a number or as a tensor of one element.
double premul_factor(const c10d::ReduceOp& op, const char* operation) {
  const auto* factor = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK_VALUE(factor != nullptr, "isthmus: ", operation,
                    ": PREMUL_SUM without a factor; torch.distributed._make_nccl_premul_sum makes it with one");
  if (!factor->tensor_factor.defined()) return factor->double_factor;
  TORCH_CHECK_NOT_IMPLEMENTED(!factor->tensor_factor.is_complex(), "isthmus: unsupported: ", operation,
                              " with PREMUL_SUM and a complex factor");
  return factor->tensor_factor.item<double>();
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
  if (op_ == ISTHMUS_PREMUL_SUM) factor_ = premul_factor(op, operation);
}

isthmus_call_options Reduction::set(isthmus_call_options options) const {
  if (op_ == ISTHMUS_PREMUL_SUM) options.premul_factor = &factor_;
  return options;
}

}  // namespace isthmus::torch_binding
