// Programs that `isthmus` hands over to.
//
// Threads: one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace isthmus::cli {

// Where `name` may lie if the running program is `self`: beside it, then in libexec next to its folder.
std::vector<std::string> program_candidates(const std::string& self, const std::string& name);

// Executes the first of them that there is, else the one on PATH, in place of this process. `arguments` begins with a
// word that the program's own name replaces, and a null pointer follows it. Returns (with an exit status, and a
// message on standard error) only when the program cannot be run.
int become_program(const std::string& name, std::span<char*> arguments);

}  // namespace isthmus::cli
