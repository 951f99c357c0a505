#include "bindings/cli/plan.h"

#include <fmt/format.h>

#include <cstdio>

#include "bindings/cli/network_options.h"
#include "collectives/plan/explain.h"

namespace isthmus::cli {
namespace {

const ProgramText kProgram{
    "isthmus plan", "Says how an operation would be done on a network, what it would take, and why.",
    "\nExample: isthmus plan --sites 4 --rate 100mbit --rtt 60ms --op allreduce --size 64MiB\n"
    "The ranks of a job plan like this from the network that they measure, or from the option sites_file."};

}  // namespace

int run_plan(std::span<char*> arguments) {
  const auto parsed = parse_network_options(kProgram, std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  if (const auto* end = std::get_if<UsageEnd>(&parsed)) {
    fmt::print(end->exit_status == 0 ? stdout : stderr, "{}", end->text);
    return end->exit_status;
  }
  const auto& options = std::get<NetworkOptions>(parsed);
  const Planner planner(options.network);
  const AllreducePlan plan = planner.plan(options.request);
  fmt::print("{}", options.json ? plan_as_json(planner, options.request, plan) + "\n"
                                : explain_plan(planner, options.request, plan));
  return 0;
}

}  // namespace isthmus::cli
