// The options of `isthmus plan` and `isthmus simulate`: a network, an operation on it, and how to report.
//
// Threads: the main thread.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bindings/cli/parse_words.h"
#include "collectives/plan/planner.h"

namespace isthmus::cli {

struct NetworkOptions {
  Network network;
  PlanRequest request;
  bool json = false;
};

struct ProgramText {
  std::string name, description, footer;
};

// `words` without the command's name. What to print instead, for help and for a mistake.
std::variant<NetworkOptions, UsageEnd> parse_network_options(const ProgramText& program,
                                                             const std::vector<std::string>& words);

}  // namespace isthmus::cli
