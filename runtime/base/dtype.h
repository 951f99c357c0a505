// Element types and reduction operators, with the numbers that go on the wire.
//
// Threads: any thread. Values are never renumbered: the operation descriptor of a frame carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isthmus {

enum class DataType : std::uint8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,  // IEEE binary16
  kBFloat16 = 3,
  kInt8 = 4,
  kUInt8 = 5,
  kInt16 = 6,
  kInt32 = 7,
  kInt64 = 8,
  kBool = 9,  // one byte, 0 or 1
  // Moved, never reduced. OCP's formats of 8 bits, and those without Infinity and -0 ("fnuz").
  kFloat8E4M3FN = 10,
  kFloat8E5M2 = 11,
  kFloat8E4M3FNUZ = 12,
  kFloat8E5M2FNUZ = 13,
  kComplex64 = 14,  // two fp32, the real part first
  kComplex128 = 15,
};
inline constexpr int kDataTypeCount = 16;

enum class ReduceOp : std::uint8_t {
  kSum = 0,
  kAvg = 1,  // the sum over all ranks divided by their count; integers truncate toward zero
  kMin = 2,
  kMax = 3,
  kProduct = 4,
  kBitAnd = 5,
  kBitOr = 6,
  kBitXor = 7,
  kPremulSum = 8,  // the sum of every rank's input times a factor of that rank
};
inline constexpr int kReduceOpCount = 9;

// What partial results are combined with: the divisor of an AVG and the factors of a PREMUL_SUM are applied apart.
constexpr ReduceOp combining_op(ReduceOp op) {
  return op == ReduceOp::kAvg || op == ReduceOp::kPremulSum ? ReduceOp::kSum : op;
}

// Bytes of one element. `type` must be one of the above.
std::size_t dtype_size_bytes(DataType type);
std::string_view dtype_name(DataType type);    // "bf16"
std::string_view reduce_op_name(ReduceOp op);  // "sum"

constexpr bool is_half(DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }
constexpr bool is_floating(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat64 || is_half(type);
}
constexpr bool is_complex(DataType type) { return type == DataType::kComplex64 || type == DataType::kComplex128; }
constexpr bool is_float8(DataType type) { return type >= DataType::kFloat8E4M3FN && type <= DataType::kFloat8E5M2FNUZ; }
constexpr bool is_integer(DataType type) { return type >= DataType::kInt8 && type <= DataType::kInt64; }
constexpr bool is_valid_dtype(int value) { return value >= 0 && value < kDataTypeCount; }
constexpr bool is_valid_reduce_op(int value) { return value >= 0 && value < kReduceOpCount; }

}  // namespace isthmus
