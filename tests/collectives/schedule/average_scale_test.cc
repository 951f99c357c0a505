#include "collectives/schedule/average_scale.h"

#include <gtest/gtest.h>

#include <utility>

namespace isthmus {
namespace {

TEST(AverageScale, PowersOfTwoForHalves) {
  const SiteMap sites({0, 1, 1, 1, 2, 2});
  const AverageScale scale(DataType::kFloat16, ReduceOp::kAvg, sites);
  EXPECT_EQ(scale.input_in_site(0), 0);
  EXPECT_EQ(scale.input_in_site(1), -2);
  EXPECT_EQ(scale.input_in_site(2), -1);
  EXPECT_EQ(scale.input_in_total(), -3);
  for (int site = 0; site < 3; ++site) {
    EXPECT_EQ(scale.input_in_site(site) + scale.partial_in_total(site), scale.input_in_total());
  }
  EXPECT_EQ(scale.finish().exponent, 3);
  EXPECT_EQ(scale.finish().divisor, 6u);
}

TEST(AverageScale, NothingIsScaledOtherwise) {
  const SiteMap sites({0, 0, 0, 1});
  for (const auto& [type, op] : {std::pair{DataType::kFloat32, ReduceOp::kAvg},
                                 {DataType::kInt32, ReduceOp::kAvg},
                                 {DataType::kBFloat16, ReduceOp::kSum},
                                 {DataType::kFloat16, ReduceOp::kMax}}) {
    const AverageScale scale(type, op, sites);
    EXPECT_EQ(scale.input_in_site(0), 0);
    EXPECT_EQ(scale.partial_in_total(0), 0);
    EXPECT_EQ(scale.input_in_total(), 0);
    EXPECT_EQ(scale.finish().exponent, 0);
    EXPECT_EQ(scale.finish().divisor, op == ReduceOp::kAvg ? 4u : 1u);
  }
}

}  // namespace
}  // namespace isthmus
