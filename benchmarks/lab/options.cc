#include "benchmarks/lab/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "benchmarks/lab/topology_file.h"
#include "bindings/cli/parse_words.h"

namespace isthmus::lab {
namespace {

constexpr Duration kMaxGrace = std::chrono::hours(1);
constexpr Duration kMaxTimeout = std::chrono::hours(24 * 365);

constexpr const char* kFooter = R"(
The command and its arguments follow --.

While it runs: isthmus lab ctl [--name NAME] COMMAND changes rates, delays and loss, cuts and heals (isthmus lab ctl
--help). The rates and times that a topology file does not give come from the options above.

Example: isthmus lab --sites 3 --ranks-per-site 2 --rate 100mbit --rtt 60ms --loss 0.1% -- python3 train.py)";

// The texts of options, until all are known and can be read with one way to say what is wrong.
struct Texts {
  std::string rate = "100mbit", rtt = "60ms", jitter = "0ms", loss = "0%", queue = "50ms", grace = "30s",
              timeout = "0s";
  std::string topology;
  bool flat = false;
};

Result<Duration> parse_delay(std::string_view text) { return parse_duration(text, kMaxDelay); }

template <typename T>
Status read_into(T* out, std::string_view option, Result<T> parsed) {
  if (!parsed.ok()) return parsed.status().with_context(option);
  *out = *parsed;
  return Status();
}

Status read_texts(const Texts& texts, TopologyDefaults* defaults, LabOptions* options) {
  Duration rtt{};
  ISTHMUS_RETURN_IF_ERROR(read_into(&defaults->rate_bits_per_sec, "--rate", parse_rate(texts.rate)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&rtt, "--rtt", parse_delay(texts.rtt)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&defaults->pair.jitter, "--jitter", parse_delay(texts.jitter)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&defaults->pair.loss, "--loss", parse_fraction(texts.loss)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&defaults->queue, "--queue", parse_delay(texts.queue)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&options->grace, "--grace", parse_duration(texts.grace, kMaxGrace)));
  ISTHMUS_RETURN_IF_ERROR(read_into(&options->timeout, "--timeout", parse_duration(texts.timeout, kMaxTimeout)));
  defaults->pair.delay = rtt / 2;
  if (texts.topology.empty()) {
    options->topology = uniform_topology(*defaults);
  } else {
    ISTHMUS_ASSIGN_OR_RETURN(options->topology, load_topology(texts.topology, *defaults));
  }
  if (texts.flat) options->topology = flat_topology(options->topology);
  if (options->command.empty()) return invalid_argument("no command: put it after --, as in `isthmus lab -- hostname`");
  return Status();
}

void add_options(CLI::App& app, Texts* texts, TopologyDefaults* defaults, LabOptions* options) {
  app.set_version_flag("--version", ISTHMUS_VERSION);
  auto* sites = app.add_option("--sites", defaults->site_count, "number of sites")
                    ->check(CLI::Range(1, kMaxSites))
                    ->capture_default_str();
  app.add_option("--ranks-per-site", defaults->ranks_per_site, "ranks of each site")
      ->check(CLI::Range(1, kMaxRanksPerSite))
      ->capture_default_str();
  app.add_option("--rate", texts->rate, "rate of each site's line, up and down: 8kbit to 100gbit, or unlimited")
      ->capture_default_str();
  app.add_option("--rtt", texts->rtt, "round-trip time between sites; half of it each way")->capture_default_str();
  app.add_option("--jitter", texts->jitter, "each packet takes up to this much longer")->capture_default_str();
  app.add_option("--loss", texts->loss, "random loss of packets between sites")->capture_default_str();
  app.add_option("--queue", texts->queue, "longest wait in the queue of a line")->capture_default_str();
  app.add_option("--mtu", defaults->mtu, "largest packet of the WAN in bytes")
      ->check(CLI::Range(kMinMtu, kMaxMtu))
      ->capture_default_str();
  app.add_flag("--reorder", options->reorder, "let jitter reorder the packets of a pair");
  app.add_option("--congestion", options->congestion, "TCP congestion control in the sites (default: the host's)")
      ->check(CLI::IsMember({"cubic", "bbr", "reno"}));
  app.add_option("--topology", texts->topology, "TOML file of sites and links")->excludes(sites);
  app.add_flag("--flat", texts->flat, "the same ranks as one site: no WAN, for comparison");
  app.add_option("--name", options->name, "name of this run, for ctl (default: lab-PID)");
  app.add_option("--grace", texts->grace, "time that ranks have to end after one failed or a signal came")
      ->capture_default_str();
  app.add_option("--timeout", texts->timeout, "end the run after this time, with status 124; 0s: never")
      ->capture_default_str();
  app.add_option("--master-port", options->master_port, "MASTER_PORT of the ranks")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of loss and jitter")->capture_default_str();
  app.add_option("--stats-json", options->stats_json, "write bytes and drops to this file at the end");
  app.add_flag("--loopback-hostname", options->loopback_hostname,
               "map each site's own host name to 127.0.1.1, as Debian does");
  app.add_flag("--quiet", options->quiet, "print only what the ranks print, and errors");
}

}  // namespace

ParsedLine parse_command_line(const std::vector<std::string>& words) {
  LabOptions options;
  Texts texts;
  TopologyDefaults defaults;
  CLI::App app("Runs COMMAND once per rank, in sites that an emulated WAN joins.", "isthmus lab");
  app.footer(kFooter);
  add_options(app, &texts, &defaults, &options);

  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) options.command.assign(dashes + 1, words.end());
  const auto end = parse_words(&app, std::vector<std::string>(words.begin(), dashes));
  if (end) return {std::nullopt, end->text, end->exit_status};
  const Status read = read_texts(texts, &defaults, &options);
  if (!read.ok()) return {std::nullopt, read.message() + "\n", kUsageError};
  return {std::move(options), "", 0};
}

}  // namespace isthmus::lab
