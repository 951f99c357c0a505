// An allreduce as the communicator would do it, planned by the planner and run on a simulated network.
//
// Threads: pure functions, any thread.
#pragma once

#include <string>

#include "collectives/plan/planner.h"
#include "collectives/simulate/simulation.h"

namespace isthmus {

struct SimulatedAllreduce {
  AllreducePlan plan;
  SimulationResult result;
  int ranks = 0;
  bool is_one_shard = false;  // of all; see below
};

// Where all sites have the same number L of ranks, the L shards of the elements do the same at the same time, each over
// ranks of its own, and share the lines: then one shard is simulated on lines of 1/L of the rate, the bytes count L
// times, and the site tier adds its own first and last chunk (or takes longer than the WAN by itself). Else every rank
// is simulated.
Result<SimulatedAllreduce> simulate_allreduce(const Planner& planner, const PlanRequest& request);

// One line of words, or one JSON object: the predicted time, bytes and lower bound.
std::string simulation_in_words(const Planner& planner, const PlanRequest& request,
                                const SimulatedAllreduce& simulated);
std::string simulation_as_json(const Planner& planner, const PlanRequest& request, const SimulatedAllreduce& simulated);

}  // namespace isthmus
