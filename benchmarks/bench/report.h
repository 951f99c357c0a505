// What the benchmark prints at rank 0: a header and a table, or one JSON object a line. METRICS.md defines the columns.
//
// Threads: any thread.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/bench/measure.h"
#include "benchmarks/bench/options.h"

namespace isthmus::bench {

struct WorldInfo {
  std::string launcher;
  std::vector<std::string> hosts;  // by rank
  std::vector<std::string> sites;  // names, by rank
  int site_count = 0;
  std::string transport;  // and its library's version, where there is one
  std::string transport_version;

  int ranks() const { return static_cast<int>(hosts.size()); }
};

std::string table_header(const BenchOptions& options, const WorldInfo& world);
std::string table_row(const BenchOptions& options, const WorldInfo& world, const Measurement& measured,
                      const LaneSummary& lanes);
std::string json_line(const BenchOptions& options, const WorldInfo& world, const Measurement& measured,
                      const LaneSummary& lanes);

}  // namespace isthmus::bench
