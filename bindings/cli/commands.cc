#include <array>

#include "bindings/cli/command.h"
#include "bindings/cli/info.h"
#include "bindings/cli/plan.h"
#include "bindings/cli/program.h"
#include "bindings/cli/secret.h"
#include "bindings/cli/simulate.h"

namespace isthmus::cli {
namespace {

int run_bench(std::span<char*> arguments) { return become_program("isthmus-bench", arguments); }
int run_lab(std::span<char*> arguments) { return become_program("isthmus-lab", arguments); }

constexpr std::array<Command, 6> kCommands{{
    {"bench", "measure operations between the ranks of a job", run_bench},
    {"info", "print what this installation can do, and its options", run_info},
    {"lab", "run ranks in sites that an emulated WAN joins", run_lab},
    {"plan", "say how an operation would be done on a network, and why", run_plan},
    {"secret", "make a job secret", run_secret},
    {"simulate", "predict what an operation takes on a network, however large", run_simulate},
}};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace isthmus::cli
