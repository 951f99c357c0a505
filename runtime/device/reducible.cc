#include "runtime/device/reducible.h"

namespace isthmus {
namespace {

std::string operators_of(DataType type) {
  std::string names;
  for (int op = 0; op < kReduceOpCount; ++op) {
    if (!is_reducible(type, static_cast<ReduceOp>(op))) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", reduce_op_name(static_cast<ReduceOp>(op)));
  }
  return names;
}

}  // namespace

bool is_reducible(DataType type, ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kProduct: return !is_float8(type);
    case ReduceOp::kAvg: return !is_float8(type) && type != DataType::kBool;
    case ReduceOp::kMin:
    case ReduceOp::kMax: return !is_float8(type) && !is_complex(type);
    case ReduceOp::kBitAnd:
    case ReduceOp::kBitOr:
    case ReduceOp::kBitXor: return is_integer(type) || type == DataType::kBool;
    case ReduceOp::kPremulSum: return is_floating(type) || is_complex(type);
  }
  return false;
}

Status check_reducible(DataType type, ReduceOp op) {
  if (is_reducible(type, op)) return Status();
  const std::string names = operators_of(type);
  if (names.empty())
    return unsupported("{} of {} is not supported; {} is moved and not reduced: convert it to a wider type",
                       reduce_op_name(op), dtype_name(type), dtype_name(type));
  return unsupported("{} of {} is not supported; {} reduces with {}", reduce_op_name(op), dtype_name(type),
                     dtype_name(type), names);
}

std::string reductions_as_markdown() {
  std::string head = "| type |", rule = "|---|", rows;
  for (int op = 0; op < kReduceOpCount; ++op) {
    head += fmt::format(" {} |", reduce_op_name(static_cast<ReduceOp>(op)));
    rule += "---|";
  }
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    rows += fmt::format("| {} |", dtype_name(type));
    for (int op = 0; op < kReduceOpCount; ++op)
      rows += is_reducible(type, static_cast<ReduceOp>(op)) ? " yes |" : " no |";
    rows += "\n";
  }
  return fmt::format("{}\n{}\n{}", head, rule, rows);
}

}  // namespace isthmus
