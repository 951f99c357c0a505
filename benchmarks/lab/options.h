// The command line of isthmus-lab.
//
// Threads: any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/lab/topology.h"

namespace isthmus::lab {

struct LabOptions {
  Topology topology;
  std::string congestion;  // empty: as the host has it
  std::string name;        // of the run, for `ctl`; empty: lab-<pid>
  std::string stats_json;  // file to write; empty: none
  Duration grace = std::chrono::seconds(30);
  Duration timeout{};  // zero: none
  int master_port = 29500;
  std::uint64_t seed = 1;
  bool reorder = false;
  bool loopback_hostname = false;
  bool quiet = false;
  std::vector<std::string> command;
};

// What the command line says, or what to print and the status to exit with (help, version, an error).
struct ParsedLine {
  std::optional<LabOptions> options;
  std::string text;
  int exit_status = 0;
};

// `words` without the program's name. What follows the first "--" is the command.
ParsedLine parse_command_line(const std::vector<std::string>& words);

}  // namespace isthmus::lab
