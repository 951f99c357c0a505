// The command line of isthmus-bench.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/bench/formulas.h"
#include "runtime/base/clock.h"
#include "runtime/base/dtype.h"

namespace isthmus::bench {

enum class Check {
  kNone,
  kLast,  // the last timed result, and one more call with fresh data
  kAll,   // every result, each with fresh data; the calls are then not back to back
};

// How an iteration begins.
enum class Start {
  kBackToBack,  // where the one before ends
  kBarrier,     // after a barrier, which the ranks leave one after the other
  kClock,       // at one moment of the ranks' wall clocks, which must agree: one machine, or NTP
};

std::string_view start_name(Start start);  // as --start takes it

struct BenchOptions {
  Case run_case = Case::kAllreduce;
  std::vector<std::uint64_t> sizes_bytes;
  DataType dtype = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int iterations = 20, warmup = 5;
  int together = 1;
  Duration gap{};
  Start start = Start::kBackToBack;
  Check check = Check::kLast;
  bool json = false;
  std::int64_t line_rate_bits_per_sec = 0;  // 0: not given
  Duration timeout = std::chrono::seconds(60);
  int expect_ranks = 0;  // 0: any
};

// Either options, or what to print and the status to exit with.
struct ParsedLine {
  std::optional<BenchOptions> options;
  std::string text;
  int exit_status = 0;
};
ParsedLine parse_command_line(const std::vector<std::string>& words);

}  // namespace isthmus::bench
