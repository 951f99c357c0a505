// isthmus: the command line of Isthmus.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "bindings/cli/command.h"

namespace {

using isthmus::cli::Command;
using isthmus::cli::commands;

void print_help(std::FILE* to) {
  fmt::print(to, "Usage: isthmus COMMAND [ARGUMENTS]\n\nCommands:\n");
  for (const Command& command : commands()) fmt::print(to, "  {:<10} {}\n", command.name, command.help);
  fmt::print(to, "  {:<10} {}\n", "help", "print this text");
  fmt::print(to, "\n`isthmus COMMAND --help` says more about a command; `isthmus --version` gives the version.\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version") {
    fmt::print("isthmus {}\n", ISTHMUS_VERSION);
    return 0;
  }
  if (word == "help" || word == "--help" || word == "-h") {
    print_help(stdout);
    return 0;
  }
  for (const Command& command : commands()) {
    if (command.name == word) return command.run({argv + 1, static_cast<std::size_t>(argc - 1)});
  }
  if (!word.empty()) fmt::print(stderr, "isthmus: '{}' is not a command\n\n", word);
  print_help(stderr);
  return isthmus::cli::kUsageError;
}
