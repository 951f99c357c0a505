#include "collectives/plan/network.h"

#include <algorithm>

#include "runtime/base/bytes.h"

namespace isthmus {
namespace {

constexpr std::uint64_t kMaxDelayUs = 10'000'000, kMillion = 1'000'000;
constexpr int kHeaderBytes = 52;           // IPv4 20, TCP 20, time stamps 12
constexpr int kAcknowledgementBytes = 26;  // one of 52 for two packets

bool is_sensible(const Network& network) {
  const auto rate = [](std::int64_t value) { return value > 0 && value <= kMaxPlannedRate; };
  const bool lines = std::ranges::all_of(network.sites, [&](const SiteLine& line) {
    return rate(line.up_bytes_per_sec) && rate(line.down_bytes_per_sec) && line.rank_count > 0;
  });
  return lines && network.payload_ppm > 0 && network.payload_ppm <= static_cast<std::int64_t>(kMillion) &&
         std::ranges::all_of(network.paths, [](const SitePath& path) {
           return path.delay_us >= 0 && path.delay_us <= static_cast<std::int64_t>(kMaxDelayUs) && path.loss_ppm >= 0 &&
                  path.loss_ppm < static_cast<std::int64_t>(kMillion) && path.bytes_per_sec >= 0;
         });
}

}  // namespace

std::string Network::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(static_cast<std::uint32_t>(sites.size()));
  writer.put(static_cast<std::uint64_t>(payload_ppm));
  for (const SiteLine& line : sites) {
    writer.put_text(line.name);
    writer.put(static_cast<std::uint32_t>(line.rank_count));
    writer.put(static_cast<std::uint64_t>(line.up_bytes_per_sec));
    writer.put(static_cast<std::uint64_t>(line.down_bytes_per_sec));
  }
  for (const SitePath& path : paths) {
    writer.put(static_cast<std::uint64_t>(path.delay_us));
    writer.put(static_cast<std::uint64_t>(path.loss_ppm));
    writer.put(static_cast<std::uint64_t>(path.bytes_per_sec));
  }
  return bytes;
}

Result<Network> Network::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  Network network;
  const auto get = [&] { return static_cast<std::int64_t>(reader.get<std::uint64_t>()); };
  const auto sites = reader.get<std::uint32_t>();
  network.payload_ppm = get();
  if (sites > static_cast<std::uint32_t>(kMaxPlannedSites)) return corruption("a network of {} sites", sites);
  for (std::uint32_t site = 0; site < sites && reader.ok(); ++site) {
    SiteLine& line = network.sites.emplace_back();
    line.name = reader.get_text();
    line.rank_count = static_cast<int>(reader.get<std::uint32_t>());
    line.up_bytes_per_sec = get();
    line.down_bytes_per_sec = get();
  }
  for (std::uint64_t pair = 0; pair < std::uint64_t{sites} * sites && reader.ok(); ++pair) {
    SitePath& path = network.paths.emplace_back();
    path.delay_us = get();
    path.loss_ppm = get();
    path.bytes_per_sec = get();
  }
  if (!reader.at_end() || !is_sensible(network)) return corruption("network of {} bytes is malformed", bytes.size());
  return network;
}

std::string default_site_name(int site) {
  constexpr int kLetters = 26;
  return site < kLetters ? std::string(1, static_cast<char>('a' + site)) : fmt::format("s{}", site);
}

Network uniform_network(int site_count, int ranks_per_site, const SiteLine& line, const SitePath& path) {
  Network network;
  for (int site = 0; site < site_count; ++site) {
    network.sites.push_back(line);
    network.sites.back().name = default_site_name(site);
    network.sites.back().rank_count = ranks_per_site;
  }
  network.paths.assign(network.sites.size() * network.sites.size(), path);
  return network;
}

Network select_sites(const Network& network, const std::vector<int>& sites) {
  Network selected;
  selected.payload_ppm = network.payload_ppm;
  for (const int from : sites) {
    selected.sites.push_back(network.sites[static_cast<std::size_t>(from)]);
    for (const int to : sites) selected.paths.push_back(network.path(from, to));
  }
  return selected;
}

std::int64_t payload_share_ppm(int mtu) {
  return std::int64_t{mtu - kHeaderBytes} * static_cast<std::int64_t>(kMillion) / (mtu + kAcknowledgementBytes);
}

}  // namespace isthmus
