#include "runtime/base/dtype.h"

namespace isthmus {

std::size_t dtype_size_bytes(DataType type) {
  switch (type) {
    case DataType::kComplex128: return 16;
    case DataType::kComplex64:
    case DataType::kFloat64:
    case DataType::kInt64: return 8;
    case DataType::kFloat32:
    case DataType::kInt32: return 4;
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kInt16: return 2;
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2FNUZ:
    case DataType::kBool: return 1;
  }
  return 0;
}

std::string_view dtype_name(DataType type) {
  switch (type) {
    case DataType::kFloat32: return "fp32";
    case DataType::kFloat64: return "fp64";
    case DataType::kFloat16: return "fp16";
    case DataType::kBFloat16: return "bf16";
    case DataType::kInt8: return "int8";
    case DataType::kUInt8: return "uint8";
    case DataType::kInt16: return "int16";
    case DataType::kInt32: return "int32";
    case DataType::kInt64: return "int64";
    case DataType::kBool: return "bool";
    case DataType::kFloat8E4M3FN: return "fp8_e4m3fn";
    case DataType::kFloat8E5M2: return "fp8_e5m2";
    case DataType::kFloat8E4M3FNUZ: return "fp8_e4m3fnuz";
    case DataType::kFloat8E5M2FNUZ: return "fp8_e5m2fnuz";
    case DataType::kComplex64: return "complex64";
    case DataType::kComplex128: return "complex128";
  }
  return "unknown";
}

std::string_view reduce_op_name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kAvg: return "avg";
    case ReduceOp::kMin: return "min";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kProduct: return "product";
    case ReduceOp::kBitAnd: return "band";
    case ReduceOp::kBitOr: return "bor";
    case ReduceOp::kBitXor: return "bxor";
    case ReduceOp::kPremulSum: return "premul_sum";
  }
  return "unknown";
}

}  // namespace isthmus
