#include "benchmarks/lab/control_command.h"

#include <array>
#include <charconv>
#include <span>

#include "benchmarks/lab/stats.h"

namespace isthmus::lab {
namespace {

using Words = std::span<const std::string>;

struct Context {
  Wan& wan;
  const ForwarderCounters& forwarder;
  Duration elapsed;
};

struct Command {
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
  std::size_t min_words;  // after the name
  std::size_t max_words;
  Result<std::string> (*run)(Context&, Words);
};

// The sites that a word means: one, or "all".
Result<std::vector<int>> find_sites(const Wan& wan, const std::string& word) {
  std::vector<int> sites;
  std::vector<std::string> names{"all"};
  for (int site = 0; site < wan.topology().site_count(); ++site) {
    names.push_back(wan.topology().sites[static_cast<std::size_t>(site)].name);
    if (word == "all" || word == names.back()) sites.push_back(site);
  }
  if (sites.empty()) return invalid_argument("'{}' is not a site; sites: {}", word, fmt::join(names, ", "));
  return sites;
}

// Calls `change` with each pair that two words mean, each pair once or twice.
template <typename Change>
Result<std::string> change_pairs(Context& context, const std::string& first, const std::string& second, Change change) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<int> from, find_sites(context.wan, first));
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<int> to, find_sites(context.wan, second));
  if (first == second && first != "all") return invalid_argument("'{}' and '{}' are no pair", first, second);
  for (const int a : from) {
    for (const int b : to) {
      if (a != b) change(context.wan, a, b);
    }
  }
  return settings_table(context.wan);
}

Result<std::string> change_rate(Context& context, Words words) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<int> sites, find_sites(context.wan, words[0]));
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t rate, parse_rate(words[1]));
  const std::string direction = words.size() > 2 ? words[2] : "both";
  if (direction != "up" && direction != "down" && direction != "both") {
    return invalid_argument("'{}' is not a direction: give up, down or both", direction);
  }
  for (const int site : sites) {
    if (direction != "down") context.wan.set_up_rate(site, rate);
    if (direction != "up") context.wan.set_down_rate(site, rate);
  }
  return settings_table(context.wan);
}

Result<std::string> change_delay(Context& context, Words words) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration delay, parse_duration(words[2], kMaxDelay));
  return change_pairs(context, words[0], words[1], [&](Wan& wan, int a, int b) { wan.set_delay(a, b, delay); });
}

Result<std::string> change_jitter(Context& context, Words words) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration jitter, parse_duration(words[2], kMaxDelay));
  return change_pairs(context, words[0], words[1], [&](Wan& wan, int a, int b) { wan.set_jitter(a, b, jitter); });
}

Result<std::string> change_loss(Context& context, Words words) {
  ISTHMUS_ASSIGN_OR_RETURN(const double loss, parse_fraction(words[2]));
  return change_pairs(context, words[0], words[1], [&](Wan& wan, int a, int b) { wan.set_loss(a, b, loss); });
}

Result<std::string> set_cut(Context& context, Words words, bool cut) {
  if (words.size() == 2) {
    return change_pairs(context, words[0], words[1], [&](Wan& wan, int a, int b) { wan.set_cut(a, b, cut); });
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<int> sites, find_sites(context.wan, words[0]));
  for (const int site : sites) context.wan.set_site_cut(site, cut);
  return settings_table(context.wan);
}

Result<std::string> cut(Context& context, Words words) { return set_cut(context, words, true); }

Result<std::string> heal(Context& context, Words words) {
  if (!words.empty()) return set_cut(context, words, false);
  const std::string all[] = {"all", "all"};
  ISTHMUS_RETURN_IF_ERROR(set_cut(context, Words(all, 1), false).status());
  return set_cut(context, Words(all, 2), false);
}

Result<std::string> show(Context& context, Words) { return settings_table(context.wan); }

Result<std::string> stats(Context& context, Words words) {
  if (words.empty()) return stats_table(context.wan, context.forwarder, context.elapsed);
  if (words[0] == "--json") return stats_json(context.wan, context.forwarder, context.elapsed);
  return invalid_argument("'{}' is not an option of stats: --json is", words[0]);
}

Result<std::string> flows(Context& context, Words words) {
  if (words.empty()) return flows_table(context.wan);
  if (words[0] == "--json") return flows_json(context.wan);
  return invalid_argument("'{}' is not an option of flows: --json is", words[0]);
}

Result<std::string> cap_flow(Context& context, Words words) {
  const std::size_t count = context.wan.flows().size();
  std::size_t number = 0;
  const char* const end = words[0].data() + words[0].size();
  const auto [read, error] = std::from_chars(words[0].data(), end, number);
  if (error != std::errc() || read != end || number >= count)
    return invalid_argument("'{}' is not a flow: `ctl flows` lists {}", words[0], count);
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t rate, parse_rate(words[1]));
  context.wan.set_flow_cap(number, rate);
  return flows_table(context.wan);
}

constexpr std::array<Command, 10> kCommands{{
    {"show", "", "the settings now", 0, 0, show},
    {"stats", "[--json]", "bytes and drops so far", 0, 1, stats},
    {"rate", "SITE RATE [up|down]", "change the line of a site: rate a 20mbit up", 2, 3, change_rate},
    {"delay", "A B TIME", "change the one-way delay of a pair: delay a b 40ms", 3, 3, change_delay},
    {"jitter", "A B TIME", "change the jitter of a pair", 3, 3, change_jitter},
    {"loss", "A B FRACTION", "change the random loss of a pair: loss all all 0.5%", 3, 3, change_loss},
    {"cut", "A [B]", "cut a site off, or one pair", 1, 2, cut},
    {"flows", "[--json]", "the TCP connections between sites, numbered", 0, 1, flows},
    {"flow-cap", "FLOW RATE", "limit one of them, each way: flow-cap 3 10mbit", 2, 2, cap_flow},
    {"heal", "[A [B]]", "undo cut; without names, all cuts", 0, 2, heal},
}};

}  // namespace

std::string control_usage() {
  std::string out;
  for (const Command& command : kCommands) {
    out += fmt::format("  {:<26} {}\n", fmt::format("{} {}", command.name, command.arguments), command.help);
  }
  return out;
}

Result<std::string> run_control_command(const std::vector<std::string>& words, Wan& wan,
                                        const ForwarderCounters& forwarder, Duration elapsed) {
  if (words.empty()) return invalid_argument("no command; commands:\n{}", control_usage());
  Context context{wan, forwarder, elapsed};
  const Words arguments = Words(words).subspan(1);
  for (const Command& command : kCommands) {
    if (command.name != words.front()) continue;
    if (arguments.size() >= command.min_words && arguments.size() <= command.max_words) {
      return command.run(context, arguments);
    }
    return invalid_argument("usage: {} {}", command.name, command.arguments);
  }
  return invalid_argument("'{}' is not a command; commands:\n{}", words.front(), control_usage());
}

}  // namespace isthmus::lab
