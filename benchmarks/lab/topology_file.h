// Reads a topology from a TOML file (README.md shows one).
//
// Threads: any thread.
#pragma once

#include <string>

#include "benchmarks/lab/topology.h"

namespace isthmus::lab {

// What the file leaves out comes from `defaults`. An error names the file, the line, the key and what it may be.
Result<Topology> load_topology(const std::string& path, const TopologyDefaults& defaults);

// The same from text; `path` is only for messages.
Result<Topology> parse_topology(std::string_view text, const std::string& path, const TopologyDefaults& defaults);

}  // namespace isthmus::lab
