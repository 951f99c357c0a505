#include "collectives/plan/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using testing::HasSubstr;

Planner uneven_planner() {
  Network network = uniform_network(4, 2, {"", 1, 12'500'000, 12'500'000}, {30'000});
  network.sites[3].up_bytes_per_sec = 3'125'000;
  return Planner(network);
}

TEST(Explain, NamesThePlanTheSharesAndTheBound) {
  const Planner planner = uneven_planner();
  PlanRequest request;
  request.bytes = 64 << 20;
  const std::string text = explain_plan(planner, request, planner.plan(request));
  EXPECT_THAT(text, HasSubstr("allreduce of 64 MiB (fp32) over 4 sites; round trips 60.00 ms"));
  EXPECT_THAT(text, HasSubstr("Plan: direct (the least time"));
  EXPECT_THAT(text, HasSubstr("25mbit"));
  EXPECT_THAT(text, HasSubstr("owns 0.0 %"));
  EXPECT_THAT(text, HasSubstr("equal ones would take"));
  EXPECT_THAT(text, HasSubstr("Bound: 21.475 s"));
  EXPECT_THAT(text, HasSubstr("* direct"));
  EXPECT_THAT(text, HasSubstr("  ring"));
}

TEST(Explain, SaysWhatWasForced) {
  const Planner planner = uneven_planner();
  PlanRequest request;
  request.bytes = 1024;
  request.algorithm = AllreduceAlgorithm::kTree;
  const std::string text = explain_plan(planner, request, planner.plan(request));
  EXPECT_THAT(text, HasSubstr("Plan: tree (forced)"));
  EXPECT_THAT(text, HasSubstr("Neighbours, by rate and then nearness: a - b - c - d"));
}

TEST(Explain, Json) {
  const Planner planner = uneven_planner();
  PlanRequest request;
  request.bytes = 1024;
  const std::string text = plan_as_json(planner, request, planner.plan(request));
  EXPECT_THAT(text, HasSubstr("\"algorithm\": \"exchange\""));
  EXPECT_THAT(text, HasSubstr("\"candidates_ms\": {\"exchange\": "));
}

TEST(Explain, Units) {
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(10), "10 B");
  EXPECT_EQ(format_seconds(1.5), "1.500 s");
  EXPECT_EQ(format_seconds(0.0301), "30.10 ms");
  EXPECT_EQ(format_seconds(0.0000125), "12.5 us");
}

}  // namespace
}  // namespace isthmus
