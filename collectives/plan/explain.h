// A plan in words and numbers, for people and for programs.
//
// Threads: pure functions, any thread.
#pragma once

#include <string>

#include "collectives/plan/planner.h"

namespace isthmus {

// The network, what was chosen and why, what the others would take, and the lower bound. Several lines.
std::string explain_plan(const Planner& planner, const PlanRequest& request, const AllreducePlan& chosen);

// The same as one JSON object on one line.
std::string plan_as_json(const Planner& planner, const PlanRequest& request, const AllreducePlan& chosen);

std::string format_bytes(double bytes);      // "64 MiB"
std::string format_seconds(double seconds);  // "5.37 s", "60.2 ms"

}  // namespace isthmus
