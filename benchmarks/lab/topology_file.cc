#include "benchmarks/lab/topology_file.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>

namespace isthmus::lab {
namespace {

constexpr std::size_t kMaxNameLength = 32;

// One table of the file, with the words to say where an error lies.
class Section {
 public:
  Section(const toml::table& table, std::string file, std::string name)
      : table_(table), file_(std::move(file)), name_(std::move(name)) {}

  Status error(const toml::node* node, std::string_view key, std::string_view what) const {
    const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    return invalid_argument("{}:{}: {}{}: {}", file_, line, name_, key, what);
  }

  Status check_keys(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      return error(&node, key.str(), fmt::format("unknown key; known here: {}", fmt::join(known, ", ")));
    }
    return Status();
  }

  const toml::node* find(std::string_view key) const { return table_.get(key); }

  Status read_integer(std::string_view key, int min, int max, int* out) const {
    const toml::node* node = find(key);
    if (node == nullptr) return Status();
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < min || *value > max) {
      return error(node, key, fmt::format("give a whole number from {} to {}", min, max));
    }
    *out = static_cast<int>(*value);
    return Status();
  }

  // A string that `parse` turns into a T.
  template <typename T, typename Parse>
  Status read_text(std::string_view key, T* out, Parse parse) const {
    const toml::node* node = find(key);
    if (node == nullptr) return Status();
    const auto text = node->value_exact<std::string_view>();
    if (!text) return error(node, key, "give a string, such as \"100mbit\", \"60ms\" or \"0.1%\"");
    auto parsed = parse(*text);
    if (!parsed.ok()) return error(node, key, parsed.status().message());
    *out = *parsed;
    return Status();
  }

 private:
  const toml::table& table_;
  std::string file_;
  std::string name_;
};

Result<Duration> parse_delay(std::string_view text) { return parse_duration(text, kMaxDelay); }

Result<std::string> parse_name(std::string_view text) {
  const auto allowed = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; };
  if (text.empty() || text.size() > kMaxNameLength || text.front() == '-' || text.back() == '-' ||
      !std::all_of(text.begin(), text.end(), allowed)) {
    return invalid_argument("'{}' is not a site name: give 1 to {} letters, digits and inner '-'", text,
                            kMaxNameLength);
  }
  if (text == "all") return invalid_argument("'all' means every site to `isthmus lab ctl`: choose another name");
  return std::string(text);
}

Result<std::optional<PortRange>> parse_inbound_ports(std::string_view text) {
  ISTHMUS_ASSIGN_OR_RETURN(const PortRange range, parse_port_range(text));
  if (range.low == 0) return invalid_argument("give a range of ports, such as \"40000-40050\"");
  return std::optional(range);
}

Status read_nat(const Section& section, NatSpec* nat) {
  if (const toml::node* node = section.find("nat")) {
    const auto enabled = node->value_exact<bool>();
    if (!enabled) return section.error(node, "nat", "give true or false");
    nat->enabled = *enabled;
  }
  const toml::node* node = section.find("nat_forward");
  if (node == nullptr) return Status();
  const toml::array* texts = node->as_array();
  if (texts == nullptr || !nat->enabled) return section.error(node, "nat_forward", "give a list, beside nat = true");
  for (const toml::node& each : *texts) {
    const auto text = each.value_exact<std::string_view>();
    const Result<PortForward> forward = parse_port_forward(text.value_or(""));
    if (!forward.ok()) return section.error(&each, "nat_forward", forward.status().message());
    nat->forwards.push_back(*forward);
  }
  return Status();
}

Status read_site(const Section& section, Topology* topology) {
  ISTHMUS_RETURN_IF_ERROR(
      section.check_keys({"name", "ranks", "rate", "up", "down", "inbound_ports", "nat", "nat_forward"}));
  SiteSpec& site = topology->sites.back();
  ISTHMUS_RETURN_IF_ERROR(section.read_text("name", &site.name, parse_name));
  ISTHMUS_RETURN_IF_ERROR(section.read_integer("ranks", 1, kMaxRanksPerSite, &site.rank_count));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("rate", &site.up_bits_per_sec, parse_rate));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("rate", &site.down_bits_per_sec, parse_rate));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("up", &site.up_bits_per_sec, parse_rate));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("down", &site.down_bits_per_sec, parse_rate));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("inbound_ports", &site.inbound_ports, parse_inbound_ports));
  ISTHMUS_RETURN_IF_ERROR(read_nat(section, &site.nat));
  const int first = topology->find_site(site.name);
  if (first + 1 == topology->site_count()) return Status();
  return section.error(section.find("name"), "name",
                       fmt::format("'{}' is also the name of site[{}]; names must differ", site.name, first));
}

Result<int> read_end(const Section& section, const toml::node& node, const Topology& topology) {
  const auto name = node.value_exact<std::string_view>();
  const int site = name ? topology.find_site(*name) : -1;
  if (site >= 0) return site;
  std::vector<std::string> names;
  for (const SiteSpec& spec : topology.sites) names.push_back(spec.name);
  return section.error(
      &node, "between",
      fmt::format("'{}' is not a site; sites: {}", name.value_or("(not a string)"), fmt::join(names, ", ")));
}

Status read_link(const Section& section, Topology* topology) {
  ISTHMUS_RETURN_IF_ERROR(section.check_keys({"between", "rtt", "delay", "jitter", "loss"}));
  const toml::node* between = section.find("between");
  const toml::array* ends = between != nullptr ? between->as_array() : nullptr;
  if (ends == nullptr || ends->size() != 2) return section.error(between, "between", "give two names of sites");
  ISTHMUS_ASSIGN_OR_RETURN(const int from, read_end(section, *ends->get(0), *topology));
  ISTHMUS_ASSIGN_OR_RETURN(const int to, read_end(section, *ends->get(1), *topology));
  if (from == to) return section.error(between, "between", "give two different sites");
  if (section.find("rtt") != nullptr && section.find("delay") != nullptr) {
    return section.error(section.find("delay"), "delay", "give rtt or delay (which is one way), not both");
  }
  PairSpec pair = topology->pair(from, to);
  Duration rtt = pair.delay * 2;
  ISTHMUS_RETURN_IF_ERROR(section.read_text("rtt", &rtt, parse_delay));
  pair.delay = rtt / 2;
  ISTHMUS_RETURN_IF_ERROR(section.read_text("delay", &pair.delay, parse_delay));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("jitter", &pair.jitter, parse_delay));
  ISTHMUS_RETURN_IF_ERROR(section.read_text("loss", &pair.loss, parse_fraction));
  topology->pair(from, to) = topology->pair(to, from) = pair;
  return Status();
}

// The entries of [[key]], each as a Section; an error when `key` is something else.
Result<std::vector<Section>> sections_of(const Section& root, const std::string& file, std::string_view key) {
  std::vector<Section> sections;
  const toml::node* node = root.find(key);
  if (node == nullptr) return sections;
  const toml::array* array = node->as_array();
  if (array == nullptr || !array->is_homogeneous<toml::table>()) {
    return root.error(node, key, fmt::format("write it as [[{}]]", key));
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    sections.emplace_back(*array->get_as<toml::table>(i), file, fmt::format("{}[{}].", key, i));
  }
  return sections;
}

}  // namespace

Result<Topology> parse_topology(std::string_view text, const std::string& path, const TopologyDefaults& defaults) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return invalid_argument("{}:{}: {}", path, parsed.error().source().begin.line, parsed.error().description());
  }
  const Section root(parsed.table(), path, "");
  ISTHMUS_RETURN_IF_ERROR(root.check_keys({"mtu", "queue", "site", "link"}));
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<Section> sites, sections_of(root, path, "site"));
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<Section> links, sections_of(root, path, "link"));
  if (sites.empty() || sites.size() > static_cast<std::size_t>(kMaxSites)) {
    return root.error(root.find("site"), "site", fmt::format("give 1 to {} tables [[site]]", kMaxSites));
  }
  Topology topology;
  for (const Section& section : sites) {
    topology.sites.push_back({default_site_name(topology.site_count()), defaults.ranks_per_site,
                              defaults.rate_bits_per_sec, defaults.rate_bits_per_sec});
    ISTHMUS_RETURN_IF_ERROR(read_site(section, &topology));
  }
  topology.pairs.assign(topology.sites.size() * topology.sites.size(), defaults.pair);
  topology.mtu = defaults.mtu;
  topology.queue = defaults.queue;
  ISTHMUS_RETURN_IF_ERROR(root.read_integer("mtu", kMinMtu, kMaxMtu, &topology.mtu));
  ISTHMUS_RETURN_IF_ERROR(root.read_text("queue", &topology.queue, parse_delay));
  for (const Section& section : links) ISTHMUS_RETURN_IF_ERROR(read_link(section, &topology));
  return topology;
}

Result<Topology> load_topology(const std::string& path, const TopologyDefaults& defaults) {
  std::ifstream file(path);
  if (!file) return invalid_argument("--topology {}: cannot read this file", path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parse_topology(text, path, defaults);
}

}  // namespace isthmus::lab
