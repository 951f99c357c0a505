#include "benchmarks/bench/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "benchmarks/bench/sizes.h"
#include "bindings/cli/parse_words.h"
#include "runtime/config/units.h"

namespace isthmus::bench {
namespace {

constexpr Duration kMaxTime = std::chrono::hours(1);

constexpr const char* kFooter = R"(
Cases: allreduce broadcast allgather reduce_scatter reduce gather scatter (root 0) alltoall sendrecv (a ring) pingpong
stream (rank 0 to the last rank) barrier.
benchmarks/METRICS.md defines every column. ISTHMUS_* variables set the options of the library.

A launcher starts one process per rank: isthmus lab, torchrun --no-python, mpirun or srun. Examples:
  isthmus lab --rate 200mbit --rtt 60ms -- isthmus bench allreduce --size 64MiB --line-rate 200mbit
  torchrun --no-python --nproc-per-node 2 isthmus bench stream --size 1MiB --together 16)";

// The texts of options, until all are known and can be read with one way to say what is wrong.
struct Texts {
  std::string case_name, size = "1MiB", min, max, dtype = "fp32", op = "sum", gap = "0s", start = "back-to-back",
                         line_rate, timeout = "60s";
  std::uint64_t factor = 2;
  bool check = true, check_all = false;
};

Result<Case> read_case(const std::string& text) {
  if (const auto found = parse_case(text)) return *found;
  return invalid_argument("'{}' is not a case: give {}", text, fmt::join(case_names(), ", "));
}

Result<DataType> read_dtype(std::string text) {
  if (text.size() == 3 && text.front() == 'f') text.insert(1, "p");  // f32
  std::string names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    if (dtype_name(type) == text) return type;
    names += fmt::format(" {}", dtype_name(type));
  }
  return invalid_argument("--dtype: '{}' is not one of{}", text, names);
}

Result<ReduceOp> read_op(const std::string& text) {
  std::string names;
  for (int i = 0; i < kReduceOpCount; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    if (reduce_op_name(op) == text) return op;
    names += fmt::format(" {}", reduce_op_name(op));
  }
  return invalid_argument("--op: '{}' is not one of{}", text, names);
}

Result<Start> read_start(const std::string& text) {
  for (const Start start : {Start::kBackToBack, Start::kBarrier, Start::kClock})
    if (start_name(start) == text) return start;
  return invalid_argument("--start: '{}' is not one of back-to-back barrier clock", text);
}

Result<std::vector<std::uint64_t>> read_sizes(const Texts& texts) {
  if (texts.min.empty() != texts.max.empty()) return invalid_argument("--min and --max go together");
  if (!texts.min.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t low, parse_size(texts.min));
    ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t high, parse_size(texts.max));
    return sweep_sizes(low, high, texts.factor);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t size, parse_size(texts.size));
  return std::vector<std::uint64_t>{size};
}

Status read_texts(const Texts& texts, BenchOptions* options) {
  ISTHMUS_ASSIGN_OR_RETURN(options->run_case, read_case(texts.case_name));
  ISTHMUS_ASSIGN_OR_RETURN(options->sizes_bytes, read_sizes(texts));
  ISTHMUS_ASSIGN_OR_RETURN(options->dtype, read_dtype(texts.dtype));
  ISTHMUS_ASSIGN_OR_RETURN(options->op, read_op(texts.op));
  ISTHMUS_ASSIGN_OR_RETURN(options->start, read_start(texts.start));
  ISTHMUS_ASSIGN_OR_RETURN(options->gap, parse_duration(texts.gap, kMaxTime));
  ISTHMUS_ASSIGN_OR_RETURN(options->timeout, parse_duration(texts.timeout, kMaxTime));
  if (options->timeout < std::chrono::milliseconds(1)) return invalid_argument("--timeout must be at least 1ms");
  if (!texts.line_rate.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(options->line_rate_bits_per_sec, parse_rate(texts.line_rate));
  }
  options->check = !texts.check ? Check::kNone : texts.check_all ? Check::kAll : Check::kLast;
  return Status();
}

void add_options(CLI::App& app, Texts* texts, BenchOptions* options) {
  app.set_version_flag("--version", ISTHMUS_VERSION);
  app.add_option("case", texts->case_name, "what to measure")->required();
  auto* size = app.add_option("--size", texts->size, "bytes of the buffer: 64MiB, 1M, 100kB")->capture_default_str();
  app.add_option("--min", texts->min, "a sweep of sizes: the first")->excludes(size);
  app.add_option("--max", texts->max, "a sweep of sizes: not above this")->excludes(size);
  app.add_option("--factor", texts->factor, "a sweep of sizes: from one to the next")->capture_default_str();
  app.add_option("--iters", options->iterations, "timed iterations")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--warmup", options->warmup, "iterations before them")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--dtype", texts->dtype, "element type, as isthmus info names it")->capture_default_str();
  app.add_option("--op", texts->op, "operator, as isthmus info names it: sum, avg, min...")->capture_default_str();
  app.add_option("--together,--count-together", options->together, "calls of an iteration, issued at once")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--gap", texts->gap, "rest between iterations, not timed")->capture_default_str();
  app.add_option("--start", texts->start, "how an iteration begins: back-to-back, after a barrier, or by the clock")
      ->capture_default_str();
  app.add_flag("--check,!--no-check", texts->check, "count wrong elements (default: yes)");
  app.add_flag("--check-all", texts->check_all, "fresh data for, and a check after, every iteration");
  app.add_flag("--json", options->json, "one JSON object a line instead of the table");
  app.add_option("--line-rate", texts->line_rate, "rate of a site's line, for the column line: 200mbit");
  app.add_option("--timeout", texts->timeout, "an operation fails when its payload has not advanced for this long")
      ->capture_default_str();
  app.add_option("--expect-ranks", options->expect_ranks, "refuse to run in a world of another size")
      ->check(CLI::Range(1, 1'000'000));
}

}  // namespace

std::string_view start_name(Start start) {
  switch (start) {
    case Start::kBackToBack: return "back-to-back";
    case Start::kBarrier: return "barrier";
    case Start::kClock: return "clock";
  }
  return "";
}

ParsedLine parse_command_line(const std::vector<std::string>& words) {
  BenchOptions options;
  Texts texts;
  CLI::App app("Measures operations of Isthmus between the ranks of a job.", "isthmus bench");
  app.footer(kFooter);
  add_options(app, &texts, &options);
  const auto end = parse_words(&app, words);
  if (end) return {std::nullopt, end->text, end->exit_status};
  const Status read = read_texts(texts, &options);
  if (!read.ok()) return {std::nullopt, read.message() + "\n", kUsageError};
  return {std::move(options), "", 0};
}

}  // namespace isthmus::bench
