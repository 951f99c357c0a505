#include "benchmarks/bench/formulas.h"

#include <gtest/gtest.h>

namespace isthmus::bench {
namespace {

TEST(Formulas, NamesLeadToCasesAndBack) {
  for (std::string_view name : case_names()) EXPECT_EQ(case_name(*parse_case(name)), name);
  EXPECT_FALSE(parse_case("all_to_all").has_value());
}

TEST(Formulas, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Case::kAllreduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kAllreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kAllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kBroadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kAllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kReduce, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Case::kBarrier, 4), 0);
}

TEST(Formulas, CallsFitIntoTheSize) {
  EXPECT_EQ(call_size(Case::kAllreduce, 1003, DataType::kFloat32, 4).count, 250u);
  EXPECT_EQ(call_size(Case::kAllreduce, 1003, DataType::kFloat32, 4).size_bytes, 1000u);
  const CallSize gathered = call_size(Case::kAllGather, 1003, DataType::kFloat64, 4);
  EXPECT_EQ(gathered.count, 31u);
  EXPECT_EQ(gathered.size_bytes, 31u * 8 * 4);
  EXPECT_EQ(call_size(Case::kBroadcast, 1, DataType::kInt64, 4).size_bytes, 8u);
  EXPECT_EQ(call_size(Case::kBarrier, 1024, DataType::kInt64, 4).size_bytes, 0u);
}

TEST(Formulas, PercentilesAreNearestRanks) {
  EXPECT_DOUBLE_EQ(percentile({5, 1, 3}, 50), 3);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 50), 2);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 99), 4);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(percentile({7}, 99), 7);
}

// 100 MB in a second over 4 ranks in 2 sites.
TEST(Formulas, BandwidthsOfRanksAndOfALine) {
  const Bandwidth allreduce = bandwidth(Case::kAllreduce, 100'000'000, 1, 1e6, 4, 2);
  EXPECT_DOUBLE_EQ(allreduce.algorithm_bytes_per_sec, 1e8);
  EXPECT_DOUBLE_EQ(allreduce.bus_bytes_per_sec, 1.5e8);
  EXPECT_DOUBLE_EQ(allreduce.line_bytes_per_sec, 1e8);
  EXPECT_DOUBLE_EQ(bandwidth(Case::kAllreduce, 1'000'000, 100, 1e6, 4, 2).algorithm_bytes_per_sec, 1e8);
  EXPECT_DOUBLE_EQ(bandwidth(Case::kPingPong, 50'000'000, 1, 1e6, 2, 2).bus_bytes_per_sec, 1e8);
  EXPECT_DOUBLE_EQ(bandwidth(Case::kAllreduce, 100'000'000, 1, 1e6, 4, 1).line_bytes_per_sec, 0);
  // Each rank sends half of its buffer over the line that it shares with a mate.
  EXPECT_DOUBLE_EQ(bandwidth(Case::kAllToAll, 100'000'000, 1, 1e6, 4, 2).line_bytes_per_sec, 1e8);
  EXPECT_DOUBLE_EQ(bandwidth(Case::kBarrier, 0, 1, 1e6, 4, 2).bus_bytes_per_sec, 0);
}

}  // namespace
}  // namespace isthmus::bench
