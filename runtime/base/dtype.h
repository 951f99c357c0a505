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
};
inline constexpr int kDataTypeCount = 10;

enum class ReduceOp : std::uint8_t {
  kSum = 0,
  kAvg = 1,  // the sum over all ranks divided by their count; integers truncate toward zero
  kMin = 2,
  kMax = 3,
  kProduct = 4,
};
inline constexpr int kReduceOpCount = 5;

// Bytes of one element. `type` must be one of the above.
std::size_t dtype_size_bytes(DataType type);
std::string_view dtype_name(DataType type);    // "bf16"
std::string_view reduce_op_name(ReduceOp op);  // "sum"

constexpr bool is_half(DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }
constexpr bool is_floating(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat64 || is_half(type);
}
constexpr bool is_valid_dtype(int value) { return value >= 0 && value < kDataTypeCount; }
constexpr bool is_valid_reduce_op(int value) { return value >= 0 && value < kReduceOpCount; }

}  // namespace isthmus
