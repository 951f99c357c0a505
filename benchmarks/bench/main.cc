// isthmus-bench: measures operations of Isthmus between the ranks of a job.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/bench/launch.h"
#include "benchmarks/bench/measure.h"
#include "benchmarks/bench/options.h"
#include "benchmarks/bench/report.h"
#include "runtime/config/environment.h"

namespace isthmus::bench {
namespace {

constexpr int kFailed = 1, kUsageError = 2;

std::string host_name() {
  std::array<char, Job::kMaxTextBytes + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Result<WorldInfo> describe(Job& job, const Launch& launch) {
  WorldInfo info;
  info.launcher = launch.launcher;
  ISTHMUS_ASSIGN_OR_RETURN(info.hosts, job.gather_text(host_name()));
  for (int rank = 0; rank < job.world().size(); ++rank) info.sites.push_back(job.world().site_name(rank));
  info.site_count = job.world().sites().site_count();
  const TransportCapabilities& transport = job.runtime().loop().links().transport().capabilities();
  info.transport = transport.name;
  info.transport_version = transport.library_version;
  return info;
}

// The number of wrong elements.
Result<std::uint64_t> run(const BenchOptions& options, const Launch& launch) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto job, Job::form(launch));
  ISTHMUS_ASSIGN_OR_RETURN(const WorldInfo info, describe(*job, launch));
  const bool prints = launch.rank == 0;
  if (prints && !options.json) fmt::print("{}", table_header(options, info));
  std::uint64_t wrong = 0;
  for (std::uint64_t size : options.sizes_bytes) {
    ISTHMUS_ASSIGN_OR_RETURN(const Measurement measured, measure(*job, options, size));
    ISTHMUS_ASSIGN_OR_RETURN(const LaneSummary lanes, summarize_lanes(*job));
    wrong += measured.wrong;
    if (!prints) continue;
    fmt::print("{}",
               options.json ? json_line(options, info, measured, lanes) : table_row(options, info, measured, lanes));
    std::fflush(stdout);
  }
  ISTHMUS_RETURN_IF_ERROR(job->barrier());
  return wrong;
}

int main_of(const std::vector<std::string>& words) {
  const ParsedLine line = parse_command_line(words);
  if (!line.options) {
    fmt::print(line.exit_status == 0 ? stdout : stderr, "{}{}",
               line.exit_status == 0 ? "" : "isthmus-bench: ", line.text);
    return line.exit_status;
  }
  const auto launch = detect_launch(environment_value, line.options->expect_ranks);
  if (!launch.ok()) {
    fmt::print(stderr, "isthmus-bench: {}\n", launch.status().message());
    return kUsageError;
  }
  const Result<std::uint64_t> wrong = run(*line.options, *launch);
  if (!wrong.ok()) {
    fmt::print(stderr, "isthmus-bench: rank {}: {}\n", launch->rank, wrong.status().to_string());
    return kFailed;
  }
  if (*wrong == 0) return 0;
  if (launch->rank == 0) fmt::print(stderr, "isthmus-bench: {} elements are wrong\n", *wrong);
  return kFailed;
}

}  // namespace
}  // namespace isthmus::bench

int main(int argc, char** argv) { return isthmus::bench::main_of(std::vector<std::string>(argv + 1, argv + argc)); }
