#include "collectives/network_agreement.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/communicator.h"
#include "collectives/network_probe.h"
#include "collectives/plan/measured_network.h"
#include "collectives/plan/sites_file.h"

namespace isthmus {
namespace {

enum class Source : std::uint64_t { kAssumed = 0, kMeasured = 1, kFile = 2, kError = 3 };

// What rank 0 says: two numbers, then the encoded network or the text of an error.
struct Announcement {
  Source source = Source::kAssumed;
  std::uint64_t measure_ms = 0;
  std::string payload;
};

std::vector<std::string> site_names(const Communicator& communicator) {
  std::vector<std::string> names;
  const SiteMap& sites = communicator.sites();
  for (int site = 0; site < sites.site_count(); ++site)
    names.push_back(communicator.site_name(sites.ranks_of(site)[0]));
  return names;
}

std::vector<int> rank_counts(const Communicator& communicator) {
  std::vector<int> counts;
  for (int site = 0; site < communicator.sites().site_count(); ++site)
    counts.push_back(communicator.sites().local_size(site));
  return counts;
}

Result<Network> network_of_file(const Communicator& communicator, const std::string& path) {
  ISTHMUS_ASSIGN_OR_RETURN(const Network file, load_sites_file(path, {}));
  std::vector<int> chosen;
  std::vector<std::string> known;
  for (const SiteLine& line : file.sites) known.push_back(line.name);
  for (const std::string& name : site_names(communicator)) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      return invalid_argument("{}: site {} of the communicator is not in it; it has {}", path, name,
                              fmt::join(known, ", "));
    chosen.push_back(static_cast<int>(found - known.begin()));
  }
  Network network = select_sites(file, chosen);
  const std::vector<int> counts = rank_counts(communicator);
  for (std::size_t site = 0; site < counts.size(); ++site) network.sites[site].rank_count = counts[site];
  return network;
}

Announcement decide(const Communicator& communicator) {
  const Options& options = communicator.runtime().options();
  if (options.sites_file.empty()) {
    if (options.measure_ms == 0 || communicator.sites().site_count() > kMaxProbedSites) return {};
    return {Source::kMeasured, static_cast<std::uint64_t>(options.measure_ms), ""};
  }
  const Result<Network> network = network_of_file(communicator, options.sites_file);
  if (!network.ok()) return {Source::kError, 0, network.status().message()};
  return {Source::kFile, 0, network->encode()};
}

Status broadcast(Communicator& communicator, void* data, std::size_t bytes) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto work, communicator.broadcast(data, bytes, DataType::kUInt8, 0, {}));
  return work->wait(Duration(-1));
}

Result<Announcement> announce(Communicator& communicator) {
  Announcement said;
  if (communicator.rank() == 0) said = decide(communicator);
  std::uint64_t head[3] = {static_cast<std::uint64_t>(said.source), said.measure_ms, said.payload.size()};
  ISTHMUS_RETURN_IF_ERROR(broadcast(communicator, head, sizeof(head)));
  said.source = static_cast<Source>(head[0]);
  said.measure_ms = head[1];
  said.payload.resize(head[2]);
  if (!said.payload.empty()) ISTHMUS_RETURN_IF_ERROR(broadcast(communicator, said.payload.data(), said.payload.size()));
  return said;
}

Result<Network> measure(Communicator& communicator, Duration limit) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<PathSample> samples, probe_paths(communicator, limit));
  const Network assumed = assumed_network(communicator);
  return measured_network(site_names(communicator), rank_counts(communicator), samples, assumed.sites[0],
                          assumed.paths[0]);
}

}  // namespace

Network assumed_network(const Communicator& communicator) {
  const SitesFileDefaults defaults;
  Network network = uniform_network(communicator.sites().site_count(), 1, defaults.line, defaults.path);
  const std::vector<std::string> names = site_names(communicator);
  const std::vector<int> counts = rank_counts(communicator);
  for (std::size_t site = 0; site < names.size(); ++site) {
    network.sites[site].name = names[site];
    network.sites[site].rank_count = counts[site];
  }
  network.payload_ppm = payload_share_ppm(defaults.mtu);
  return network;
}

Result<Network> agree_on_network(Communicator& communicator) {
  ISTHMUS_ASSIGN_OR_RETURN(const Announcement said, announce(communicator));
  switch (said.source) {
    case Source::kMeasured: return measure(communicator, std::chrono::milliseconds(said.measure_ms));
    case Source::kFile: return Network::decode(said.payload);
    case Source::kError: return invalid_argument("sites_file of rank 0: {}", said.payload);
    case Source::kAssumed: break;
  }
  return assumed_network(communicator);
}

}  // namespace isthmus
