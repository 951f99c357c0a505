#include "runtime/device/reducible.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace isthmus {
namespace {

// DT-03, DT-05: every cell of the table, written out.
TEST(Reducible, Table) {
  const std::string numbers = "sum avg min max product", floats = numbers + " premul_sum", bits = " band bor bxor";
  const std::map<std::string, std::string> table = {
      {"fp32", floats},
      {"fp64", floats},
      {"fp16", floats},
      {"bf16", floats},
      {"int8", numbers + bits},
      {"uint8", numbers + bits},
      {"int16", numbers + bits},
      {"int32", numbers + bits},
      {"int64", numbers + bits},
      {"bool", "sum min max product" + bits},
      {"fp8_e4m3fn", ""},
      {"fp8_e5m2", ""},
      {"fp8_e4m3fnuz", ""},
      {"fp8_e5m2fnuz", ""},
      {"complex64", "sum avg product premul_sum"},
      {"complex128", "sum avg product premul_sum"},
  };
  EXPECT_EQ(table.size(), static_cast<std::size_t>(kDataTypeCount));
  for (int t = 0; t < kDataTypeCount; ++t) {
    std::string operators;
    for (int o = 0; o < kReduceOpCount; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<ReduceOp>(o);
      EXPECT_EQ(is_reducible(type, op), check_reducible(type, op).ok());
      if (is_reducible(type, op)) operators += (operators.empty() ? "" : " ") + std::string(reduce_op_name(op));
    }
    EXPECT_EQ(operators, table.at(std::string(dtype_name(static_cast<DataType>(t)))));
  }
}

TEST(Reducible, RefusalsNameTypeOperatorAndWhatIsSupported) {
  const Status average = check_reducible(DataType::kBool, ReduceOp::kAvg);
  EXPECT_EQ(average.code(), StatusCode::kUnsupported);
  EXPECT_EQ(average.message(),
            "avg of bool is not supported; bool reduces with sum, min, max, product, band, bor, bxor");
  EXPECT_EQ(check_reducible(DataType::kComplex64, ReduceOp::kMax).message(),
            "max of complex64 is not supported; complex64 reduces with sum, avg, product, premul_sum");
  EXPECT_EQ(check_reducible(DataType::kFloat8E5M2, ReduceOp::kSum).message(),
            "sum of fp8_e5m2 is not supported; fp8_e5m2 is moved and not reduced: convert it to a wider type");
}

// DT-14.
TEST(Reducible, PremulSumOfIntegersIsRefusedByName) {
  EXPECT_EQ(check_reducible(DataType::kInt32, ReduceOp::kPremulSum).message(),
            "premul_sum of int32 is not supported; int32 reduces with sum, avg, min, max, product, band, bor, bxor");
}

TEST(Reducible, MarkdownHasARowPerType) {
  const std::string table = reductions_as_markdown();
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), kDataTypeCount + 2);
  EXPECT_NE(table.find("| complex64 | yes | yes | no | no | yes | no | no | no | yes |\n"), std::string::npos) << table;
}

}  // namespace
}  // namespace isthmus
