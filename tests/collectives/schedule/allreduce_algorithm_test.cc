#include "collectives/schedule/allreduce_algorithm.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(AllreduceAlgorithm, Names) {
  EXPECT_EQ(parse_allreduce_algorithm("auto").value(), std::nullopt);
  for (int i = 0; i < kAllreduceAlgorithmCount; ++i) {
    const auto algorithm = static_cast<AllreduceAlgorithm>(i);
    EXPECT_EQ(parse_allreduce_algorithm(allreduce_algorithm_name(algorithm)).value(), algorithm);
  }
  const Status error = parse_allreduce_algorithm("Ring").status();
  EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(error.message().find("\"Ring\""), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("auto, exchange, direct, ring, tree"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace isthmus
