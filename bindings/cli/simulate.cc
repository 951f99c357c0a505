#include "bindings/cli/simulate.h"

#include <fmt/format.h>

#include <cstdio>

#include "bindings/cli/network_options.h"
#include "collectives/simulate/simulated_allreduce.h"

namespace isthmus::cli {
namespace {

const ProgramText kProgram{
    "isthmus simulate", "Runs the plan and the schedules of an operation on a computed network, without any data.",
    "\nExample: isthmus simulate --sites 1024 --ranks-per-site 8 --rate 10gbit --rtt 50ms --op allreduce --size 64MiB"};

}  // namespace

int run_simulate(std::span<char*> arguments) {
  const auto parsed = parse_network_options(kProgram, std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  if (const auto* end = std::get_if<UsageEnd>(&parsed)) {
    fmt::print(end->exit_status == 0 ? stdout : stderr, "{}", end->text);
    return end->exit_status;
  }
  const auto& options = std::get<NetworkOptions>(parsed);
  const Planner planner(options.network);
  const auto simulated = simulate_allreduce(planner, options.request);
  if (!simulated.ok()) {
    fmt::print(stderr, "isthmus simulate: {}\n", simulated.status().message());
    return 1;
  }
  fmt::print("{}", options.json ? simulation_as_json(planner, options.request, *simulated)
                                : simulation_in_words(planner, options.request, *simulated));
  return 0;
}

}  // namespace isthmus::cli
