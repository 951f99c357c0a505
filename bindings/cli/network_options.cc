#include "bindings/cli/network_options.h"

#include <fmt/ranges.h>

#include <chrono>
#include <cmath>

#include "collectives/plan/sites_file.h"
#include "runtime/config/units.h"

namespace isthmus::cli {
namespace {

constexpr int kMostRanksPerSite = 4096;
constexpr double kMillion = 1e6;

// As typed, until all are known.
struct Texts {
  std::string sites_file;
  int sites = 4, ranks_per_site = 1;
  std::string rate = "100mbit", up, down, rtt = "60ms", loss = "0%";
  int mtu = 1500;
  std::string op = "allreduce", type = "fp32", algorithm = "auto";
  std::size_t bytes = 64 * 1024 * 1024, chunk_bytes = 256 * 1024;
  bool equal_shares = false, json = false;
};

void add_options(CLI::App& app, Texts* texts) {
  auto* file = app.add_option("sites.toml", texts->sites_file, "TOML file of sites and links, as the lab takes it");
  app.add_option("--sites", texts->sites, "number of equal sites")
      ->check(CLI::Range(1, kMaxPlannedSites))
      ->capture_default_str()
      ->excludes(file);
  app.add_option("--ranks-per-site", texts->ranks_per_site, "ranks of each site")
      ->check(CLI::Range(1, kMostRanksPerSite))
      ->capture_default_str();
  app.add_option("--rate", texts->rate, "rate of each site's line, up and down: 8kbit to 100gbit, or unlimited")
      ->capture_default_str();
  app.add_option("--up", texts->up, "rate up, where it differs");
  app.add_option("--down", texts->down, "rate down, where it differs");
  app.add_option("--rtt", texts->rtt, "round-trip time between sites")->capture_default_str();
  app.add_option("--loss", texts->loss, "loss of packets between sites")->capture_default_str();
  app.add_option("--mtu", texts->mtu, "largest packet in bytes")->check(CLI::Range(576, 9216))->capture_default_str();
  app.add_option("--op", texts->op, "operation")
      ->check(CLI::IsMember(std::vector<std::string>{"allreduce"}))
      ->capture_default_str();
  app.add_option("--size", texts->bytes, "bytes of one rank's buffer, such as 64MiB")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--dtype", texts->type, "element type")->capture_default_str();
  app.add_option("--algorithm", texts->algorithm, "auto, or what is forced")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "exchange", "direct", "ring", "tree"}))
      ->capture_default_str();
  app.add_option("--chunk-bytes", texts->chunk_bytes, "the option chunk_bytes: largest chunk")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(4096.0, 64.0 * 1024 * 1024))
      ->capture_default_str();
  app.add_flag("--equal-shares", texts->equal_shares, "every site owns as much, whatever its line");
  app.add_flag("--json", texts->json, "one JSON object on one line");
}

Result<DataType> find_type(const std::string& name) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    names.push_back(dtype_name(static_cast<DataType>(i)));
    if (names.back() == name) return static_cast<DataType>(i);
  }
  return invalid_argument("--dtype {}: known are {}", name, fmt::join(names, ", "));
}

Result<SitesFileDefaults> read_defaults(const Texts& texts) {
  SitesFileDefaults defaults;
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t rate, parse_planned_rate(texts.rate));
  defaults.line.up_bytes_per_sec = defaults.line.down_bytes_per_sec = rate;
  if (!texts.up.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(defaults.line.up_bytes_per_sec, parse_planned_rate(texts.up));
  }
  if (!texts.down.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(defaults.line.down_bytes_per_sec, parse_planned_rate(texts.down));
  }
  ISTHMUS_ASSIGN_OR_RETURN(const Duration rtt, parse_duration(texts.rtt, kMaxDelay));
  defaults.path.delay_us = std::chrono::duration_cast<std::chrono::microseconds>(rtt).count() / 2;
  ISTHMUS_ASSIGN_OR_RETURN(const double loss, parse_fraction(texts.loss));
  if (loss >= 1) return invalid_argument("--loss {}: leaves nothing", texts.loss);
  defaults.path.loss_ppm = std::llround(loss * kMillion);
  defaults.line.rank_count = texts.ranks_per_site;
  defaults.mtu = texts.mtu;
  return defaults;
}

Result<NetworkOptions> read_texts(const Texts& texts) {
  NetworkOptions options;
  options.json = texts.json;
  options.request.bytes = texts.bytes;
  options.request.max_chunk_bytes = texts.chunk_bytes;
  options.request.equal_shares = texts.equal_shares;
  ISTHMUS_ASSIGN_OR_RETURN(options.request.type, find_type(texts.type));
  ISTHMUS_ASSIGN_OR_RETURN(options.request.algorithm, parse_allreduce_algorithm(texts.algorithm));
  if (texts.bytes % dtype_size_bytes(options.request.type) != 0)
    return invalid_argument("--size {} is not a whole number of {}", texts.bytes, texts.type);
  ISTHMUS_ASSIGN_OR_RETURN(const SitesFileDefaults defaults, read_defaults(texts));
  if (texts.sites_file.empty()) {
    options.network = uniform_network(texts.sites, texts.ranks_per_site, defaults.line, defaults.path);
    options.network.payload_ppm = payload_share_ppm(texts.mtu);
  } else {
    ISTHMUS_ASSIGN_OR_RETURN(options.network, load_sites_file(texts.sites_file, defaults));
  }
  return options;
}

}  // namespace

std::variant<NetworkOptions, UsageEnd> parse_network_options(const ProgramText& program,
                                                             const std::vector<std::string>& words) {
  Texts texts;
  CLI::App app(program.description, program.name);
  app.footer(program.footer);
  add_options(app, &texts);
  if (auto end = parse_words(&app, words)) return *end;
  Result<NetworkOptions> options = read_texts(texts);
  if (!options.ok()) return UsageEnd{options.status().message() + "\n", kUsageError};
  return std::move(options).value();
}

}  // namespace isthmus::cli
