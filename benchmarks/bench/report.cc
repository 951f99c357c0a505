#include "benchmarks/bench/report.h"

#include <algorithm>
#include <map>

#include "benchmarks/bench/sizes.h"

namespace isthmus::bench {
namespace {

double line_fill(const BenchOptions& options, const Bandwidth& of_median) {
  return 8 * of_median.line_bytes_per_sec / static_cast<double>(options.line_rate_bits_per_sec);
}

bool has_line_fill(const BenchOptions& options, const WorldInfo& world) {
  return options.line_rate_bits_per_sec > 0 && world.site_count > 1 && options.run_case != Case::kBarrier;
}

std::string op_text(const BenchOptions& options) {
  return std::string(is_reduction(options.run_case) ? reduce_op_name(options.op) : "none");
}

Bandwidth median_bandwidth(const BenchOptions& options, const WorldInfo& world, const Measurement& measured) {
  return bandwidth(options.run_case, measured.call.size_bytes, options.together, percentile(measured.times_us, 50),
                   world.ranks(), world.site_count);
}

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", c);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(json_text(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

// Consecutive ranks with the same host and site share a line.
std::string rank_lines(const WorldInfo& world) {
  std::string text;
  for (std::size_t first = 0; first < world.hosts.size();) {
    std::size_t last = first;
    while (last + 1 < world.hosts.size() && world.hosts[last + 1] == world.hosts[first] &&
           world.sites[last + 1] == world.sites[first])
      ++last;
    text += fmt::format("#   rank {:<9} site {:<10} host {}\n",
                        first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
                        world.sites[first], world.hosts[first]);
    first = last + 1;
  }
  return text;
}

}  // namespace

std::string table_header(const BenchOptions& options, const WorldInfo& world) {
  std::vector<std::string> hosts = world.hosts;
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::string text = fmt::format(
      "# isthmus bench {} {}: {} ranks, {} sites, {} hosts (from {}); {} {}\n# {} iterations after {}, {} calls "
      "together, gap {} ms, start {}; busbw and line from p50\n",
      ISTHMUS_VERSION, case_name(options.run_case), world.ranks(), world.site_count, hosts.size(), world.launcher,
      world.transport, world.transport_version, options.iterations, options.warmup, options.together,
      to_ms(options.gap), start_name(options.start));
  text += rank_lines(world);
  text += fmt::format("# {:>10} {:>10} {:>5} {:>7} {:>12} {:>12} {:>10} {:>10} {:>7} {:>6} {:>10} {:>9}\n", "size",
                      "count", "type", "op", "p50", "p99", "algbw", "busbw", "line", "lanes", "congestion", "wrong");
  text += fmt::format("# {:>10} {:>10} {:>5} {:>7} {:>12} {:>12} {:>10} {:>10} {:>7} {:>6} {:>10} {:>9}\n", "bytes",
                      "elements", "", "", "us", "us", "MB/s", "MB/s", "%", "", "", "elements");
  return text;
}

std::string table_row(const BenchOptions& options, const WorldInfo& world, const Measurement& measured,
                      const LaneSummary& lanes) {
  const Bandwidth median = median_bandwidth(options, world, measured);
  const std::string line =
      has_line_fill(options, world) ? fmt::format("{:.1f}", 100 * line_fill(options, median)) : "-";
  return fmt::format("  {:>10} {:>10} {:>5} {:>7} {:>12.1f} {:>12.1f} {:>10.3f} {:>10.3f} {:>7} {:>6} {:>10} {:>9}\n",
                     format_size(measured.call.size_bytes), measured.call.count, dtype_name(options.dtype),
                     op_text(options), percentile(measured.times_us, 50), percentile(measured.times_us, 99),
                     median.algorithm_bytes_per_sec / 1e6, median.bus_bytes_per_sec / 1e6, line, lanes.lanes,
                     lanes.congestion.empty() ? "-" : lanes.congestion,
                     measured.checked_iterations == 0 ? "-" : fmt::format("{}", measured.wrong));
}

std::string json_line(const BenchOptions& options, const WorldInfo& world, const Measurement& measured,
                      const LaneSummary& lanes) {
  const Bandwidth median = median_bandwidth(options, world, measured);
  std::vector<std::string> fields;
  const auto number = [&](std::string_view name, auto value) {
    fields.push_back(fmt::format("\"{}\": {}", name, value));
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    fields.push_back(fmt::format("\"{}\": {}", name, json_text(value)));
  };
  const auto rounded = [&](std::string_view name, double value) {
    fields.push_back(fmt::format("\"{}\": {:.1f}", name, value));
  };
  text("case", case_name(options.run_case));
  number("size_bytes", measured.call.size_bytes);
  number("count", measured.call.count);
  text("dtype", dtype_name(options.dtype));
  text("op", op_text(options));
  number("ranks", world.ranks());
  number("sites", world.site_count);
  rounded("time_us_min", percentile(measured.times_us, 0));
  rounded("time_us_p50", percentile(measured.times_us, 50));
  rounded("time_us_p99", percentile(measured.times_us, 99));
  rounded("time_us_slowest_p50", percentile(measured.slowest_us, 50));
  rounded("algbw_bytes_per_sec", median.algorithm_bytes_per_sec);
  rounded("busbw_bytes_per_sec", median.bus_bytes_per_sec);
  number("line_fill", has_line_fill(options, world) ? fmt::format("{:.4f}", line_fill(options, median)) : "null");
  number("wrong", measured.checked_iterations == 0 ? "null" : fmt::format("{}", measured.wrong));
  number("checked_iterations", measured.checked_iterations);
  text("transport", world.transport);
  text("transport_version", world.transport_version);
  number("lanes", lanes.lanes);
  text("congestion", lanes.congestion);
  number("together", options.together);
  number("gap_us", options.gap.count() / 1000);
  text("start", start_name(options.start));
  number("iterations", options.iterations);
  number("warmup", options.warmup);
  number("wan_sent_bytes", measured.wan_sent_bytes);
  text("launcher", world.launcher);
  fields.push_back(fmt::format("\"hosts\": {}", json_texts(world.hosts)));
  fields.push_back(fmt::format("\"site_names\": {}", json_texts(world.sites)));
  return fmt::format("{{{}}}\n", fmt::join(fields, ", "));
}

}  // namespace isthmus::bench
