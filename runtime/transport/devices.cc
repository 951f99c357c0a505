#include "runtime/transport/devices.h"

#include <ifaddrs.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>

#include "runtime/base/socket_address.h"

namespace isthmus {
namespace {

constexpr std::string_view kAuto = "auto";

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::int64_t leading_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, 0);
}

// Names of a folder, sorted; empty when there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<NetworkDevice> find_interfaces(const std::string& sys) {
  std::vector<NetworkDevice> devices;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return devices;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const int family = entry->ifa_addr == nullptr ? AF_UNSPEC : entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    auto device =
        std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == entry->ifa_name; });
    if (device == devices.end()) {
      const std::string speed = first_line(std::filesystem::path(sys) / "class/net" / entry->ifa_name / "speed");
      device = devices.insert(devices.end(), {entry->ifa_name, entry->ifa_name, {}, leading_number(speed)});
    }
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    device->hosts.push_back(SocketAddress::from_native(entry->ifa_addr, length).host());
  }
  return devices;
}

// "4: ACTIVE", "100 Gb/sec (4X EDR)", and the interface of the first address.
NetworkDevice rdma_port(const std::filesystem::path& folder, const std::string& device, const std::string& port) {
  NetworkDevice found;
  found.name = device + ":" + port;
  found.is_rdma = true;
  found.is_active = first_line(folder / "state").find("ACTIVE") != std::string::npos;
  found.speed_mbit = 1000 * leading_number(first_line(folder / "rate"));
  for (const std::string& index : names_in(folder / "gid_attrs/ndevs")) {
    if (found.interface.empty()) found.interface = first_line(folder / "gid_attrs/ndevs" / index);
  }
  return found;
}

bool has_host(const NetworkDevice& device, std::string_view host) {
  return std::find(device.hosts.begin(), device.hosts.end(), host) != device.hosts.end();
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// UCX's reliable connections (rc) run on InfiniBand and RoCE; the adapters of AWS (efa) are of another kind.
bool can_rc(const NetworkDevice& device) { return device.is_rdma && !device.name.starts_with("efa"); }

const NetworkDevice* fastest_rdma_port(std::span<const NetworkDevice> found, std::string_view interface) {
  const NetworkDevice* best = nullptr;
  for (const NetworkDevice& device : found) {
    if (!can_rc(device) || !device.is_active || device.interface != interface) continue;
    if (best == nullptr || device.speed_mbit > best->speed_mbit) best = &device;
  }
  return best;
}

std::string why_no_rdma(std::span<const NetworkDevice> found, std::string_view interface) {
  std::string reasons;
  for (const NetworkDevice& device : found) {
    if (!device.is_rdma) continue;
    const std::string reason = !can_rc(device)     ? "UCX has no rc for it"
                               : !device.is_active ? "its port is not active"
                                                   : fmt::format("it does not belong to {}", interface);
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", device.name, reason);
  }
  return reasons.empty() ? "no RDMA device is here" : reasons;
}

}  // namespace

std::vector<NetworkDevice> find_network_devices(const std::string& sys) {
  std::vector<NetworkDevice> devices = find_interfaces(sys);
  const std::size_t interface_count = devices.size();
  const std::filesystem::path root = std::filesystem::path(sys) / "class/infiniband";
  for (const std::string& device : names_in(root)) {
    for (const std::string& port : names_in(root / device / "ports")) {
      NetworkDevice found = rdma_port(root / device / "ports" / port, device, port);
      for (std::size_t i = 0; i < interface_count; ++i) {
        if (devices[i].name == found.interface) found.hosts = devices[i].hosts;
      }
      devices.push_back(std::move(found));
    }
  }
  return devices;
}

Result<UcxDevices> choose_ucx_devices(std::span<const NetworkDevice> found, std::string_view host,
                                      std::string_view wanted_transports, std::string_view wanted_devices) {
  if (wanted_transports != kAuto && !has_word(wanted_transports, "tcp")) {
    return invalid_argument("option ucx_tls=\"{}\" must name tcp too: UCX workers find each other over it",
                            wanted_transports);
  }
  const auto base = std::find_if(found.begin(), found.end(), [&](const NetworkDevice& device) {
    return !device.is_rdma && has_host(device, host);
  });
  if (base == found.end()) return unavailable("{} is no address of this host", host);
  UcxDevices choice{"tcp", base->name, {}};
  const NetworkDevice* rdma = fastest_rdma_port(found, base->name);
  const bool may_rdma = wanted_transports == kAuto || wanted_transports != "tcp";
  if (rdma != nullptr && may_rdma) {
    choice = {"rc,tcp", rdma->name + "," + base->name,
              fmt::format("auto: {} is an RDMA port of {}", rdma->name, base->name)};
  } else {
    choice.reason = may_rdma ? "auto: " + why_no_rdma(found, base->name) : "asked for";
  }
  if (wanted_transports != kAuto) choice.transports = wanted_transports, choice.reason = "asked for";
  if (wanted_devices != kAuto) choice.devices = wanted_devices, choice.reason = "asked for";
  return choice;
}

std::vector<std::string> describe_ucx_devices(std::span<const NetworkDevice> found, std::string_view wanted_transports,
                                              std::string_view wanted_devices) {
  std::vector<std::string> lines;
  for (const NetworkDevice& device : found) {
    if (device.is_rdma) continue;
    for (const std::string& host : device.hosts) {
      const auto choice = choose_ucx_devices(found, host, wanted_transports, wanted_devices);
      lines.push_back(choice.ok() ? fmt::format("{} of {}: TLS={} NET_DEVICES={} ({})", host, device.name,
                                                choice->transports, choice->devices, choice->reason)
                                  : choice.status().to_string());
    }
  }
  return lines;
}

}  // namespace isthmus
