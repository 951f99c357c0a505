#include "collectives/plan/sites_file.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "runtime/config/units.h"

namespace isthmus {
namespace {

constexpr int kLeastMtu = 576, kMostMtu = 9216, kMostRanksPerSite = 4096;
constexpr std::int64_t kBitsPerByte = 8;
constexpr double kMillion = 1e6;

// A table of the file, and where it is for messages.
struct Section {
  const toml::table* table;
  std::string place;  // "site[1]."

  const toml::node* find(std::string_view key) const { return table->get(key); }
};

class Reader {
 public:
  Reader(std::string path, const SitesFileDefaults& defaults) : path_(std::move(path)), defaults_(defaults) {}

  Result<Network> read(const toml::table& file) {
    const Section root{&file, ""};
    ISTHMUS_RETURN_IF_ERROR(check_keys(root, {"mtu", "queue", "site", "link"}));
    int mtu = defaults_.mtu;
    ISTHMUS_RETURN_IF_ERROR(read_integer(root, "mtu", kLeastMtu, kMostMtu, &mtu));
    network_.payload_ppm = payload_share_ppm(mtu);
    ISTHMUS_ASSIGN_OR_RETURN(const std::vector<Section> sites, sections(root, "site"));
    if (sites.empty() || sites.size() > static_cast<std::size_t>(kMaxPlannedSites))
      return error(root, root.find("site"), "site", fmt::format("give 1 to {} tables [[site]]", kMaxPlannedSites));
    for (const Section& section : sites) ISTHMUS_RETURN_IF_ERROR(read_site(section));
    network_.paths.assign(network_.sites.size() * network_.sites.size(), defaults_.path);
    ISTHMUS_ASSIGN_OR_RETURN(const std::vector<Section> links, sections(root, "link"));
    for (const Section& section : links) ISTHMUS_RETURN_IF_ERROR(read_link(section));
    return std::move(network_);
  }

 private:
  Status error(const Section& section, const toml::node* node, std::string_view key, std::string_view what) const {
    const auto line = (node != nullptr ? node->source() : section.table->source()).begin.line;
    return invalid_argument("{}:{}: {}{}: {}", path_, line, section.place, key, what);
  }

  Status check_keys(const Section& section, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : *section.table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      return error(section, &node, key.str(), fmt::format("unknown key; known here: {}", fmt::join(known, ", ")));
    }
    return Status();
  }

  Result<std::vector<Section>> sections(const Section& root, std::string_view key) const {
    std::vector<Section> found;
    const toml::node* node = root.find(key);
    if (node == nullptr) return found;
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>())
      return error(root, node, key, fmt::format("write it as [[{}]]", key));
    for (std::size_t i = 0; i < array->size(); ++i)
      found.push_back({array->get_as<toml::table>(i), fmt::format("{}[{}].", key, i)});
    return found;
  }

  Status read_integer(const Section& section, std::string_view key, int least, int most, int* out) const {
    const toml::node* node = section.find(key);
    if (node == nullptr) return Status();
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < least || *value > most)
      return error(section, node, key, fmt::format("give a whole number from {} to {}", least, most));
    *out = static_cast<int>(*value);
    return Status();
  }

  // A string that `parse` makes a T of.
  template <typename T, typename Parse>
  Status read_text(const Section& section, std::string_view key, T* out, Parse parse) const {
    const toml::node* node = section.find(key);
    if (node == nullptr) return Status();
    const auto text = node->value_exact<std::string_view>();
    if (!text) return error(section, node, key, "give a string, such as \"100mbit\", \"60ms\" or \"0.1%\"");
    auto parsed = parse(*text);
    if (!parsed.ok()) return error(section, node, key, parsed.status().message());
    *out = *parsed;
    return Status();
  }

  Status read_site(const Section& section) {
    ISTHMUS_RETURN_IF_ERROR(
        check_keys(section, {"name", "ranks", "rate", "up", "down", "inbound_ports", "nat", "nat_forward"}));

    SiteLine line = defaults_.line;
    line.name = default_site_name(network_.site_count());
    const auto text = [](std::string_view name) { return Result<std::string>(std::string(name)); };
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "name", &line.name, text));
    ISTHMUS_RETURN_IF_ERROR(read_integer(section, "ranks", 1, kMostRanksPerSite, &line.rank_count));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "rate", &line.up_bytes_per_sec, parse_planned_rate));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "rate", &line.down_bytes_per_sec, parse_planned_rate));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "up", &line.up_bytes_per_sec, parse_planned_rate));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "down", &line.down_bytes_per_sec, parse_planned_rate));
    if (find_site(line.name) >= 0)
      return error(section, section.find("name"), "name", fmt::format("'{}' is the name of another site", line.name));
    network_.sites.push_back(line);
    return Status();
  }

  Status read_link(const Section& section) {
    ISTHMUS_RETURN_IF_ERROR(check_keys(section, {"between", "rtt", "delay", "jitter", "loss", "rate"}));
    const toml::node* between = section.find("between");
    const toml::array* ends = between != nullptr ? between->as_array() : nullptr;
    if (ends == nullptr || ends->size() != 2) return error(section, between, "between", "give two names of sites");
    ISTHMUS_ASSIGN_OR_RETURN(const int from, read_end(section, *ends->get(0)));
    ISTHMUS_ASSIGN_OR_RETURN(const int to, read_end(section, *ends->get(1)));
    if (from == to) return error(section, between, "between", "give two different sites");
    if (section.find("rtt") != nullptr && section.find("delay") != nullptr)
      return error(section, section.find("delay"), "delay", "give rtt or delay (which is one way), not both");
    SitePath path = network_.path(from, to);
    const auto microseconds = [](std::int64_t parts) {
      return [parts](std::string_view text) -> Result<std::int64_t> {
        ISTHMUS_ASSIGN_OR_RETURN(const Duration duration, parse_duration(text, kMaxDelay));
        return std::chrono::duration_cast<std::chrono::microseconds>(duration).count() / parts;
      };
    };
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "rtt", &path.delay_us, microseconds(2)));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "delay", &path.delay_us, microseconds(1)));
    ISTHMUS_RETURN_IF_ERROR(read_text(section, "rate", &path.bytes_per_sec, parse_planned_rate));
    ISTHMUS_RETURN_IF_ERROR(
        read_text(section, "loss", &path.loss_ppm, [](std::string_view text) -> Result<std::int64_t> {
          ISTHMUS_ASSIGN_OR_RETURN(const double fraction, parse_fraction(text));
          if (fraction >= 1) return invalid_argument("'{}' leaves nothing", text);
          return std::llround(fraction * kMillion);
        }));
    network_.path(from, to) = network_.path(to, from) = path;
    return Status();
  }

  Result<int> read_end(const Section& section, const toml::node& node) const {
    const auto name = node.value_exact<std::string_view>();
    const int site = name ? find_site(*name) : -1;
    if (site >= 0) return site;
    std::vector<std::string> names;
    for (const SiteLine& line : network_.sites) names.push_back(line.name);
    return error(section, &node, "between",
                 fmt::format("'{}' is not a site; sites: {}", name.value_or("(not a string)"), fmt::join(names, ", ")));
  }

  int find_site(std::string_view name) const {
    const auto found = std::ranges::find(network_.sites, name, &SiteLine::name);
    return found == network_.sites.end() ? -1 : static_cast<int>(found - network_.sites.begin());
  }

  const std::string path_;
  const SitesFileDefaults defaults_;
  Network network_;
};

}  // namespace

Result<std::int64_t> parse_planned_rate(std::string_view text) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t bits, parse_rate(text));
  return bits == kUnlimitedRate ? kMaxPlannedRate : bits / kBitsPerByte;
}

Result<Network> parse_sites_file(std::string_view text, const std::string& path, const SitesFileDefaults& defaults) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return invalid_argument("{}:{}: {}", path, parsed.error().source().begin.line, parsed.error().description());
  return Reader(path, defaults).read(parsed.table());
}

Result<Network> load_sites_file(const std::string& path, const SitesFileDefaults& defaults) {
  std::ifstream file(path);
  if (!file) return invalid_argument("{}: cannot read this file", path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parse_sites_file(text, path, defaults);
}

}  // namespace isthmus
