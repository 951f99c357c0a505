// The commands of `isthmus`: one row each.
//
// Threads: one thread.
#pragma once

#include <span>
#include <string_view>

namespace isthmus::cli {

inline constexpr int kUsageError = 2;

struct Command {
  std::string_view name;
  std::string_view help;
  // `arguments` begins with the command's name and is followed by a null pointer. Returns the exit status.
  int (*run)(std::span<char*> arguments);
};

std::span<const Command> commands();

}  // namespace isthmus::cli
