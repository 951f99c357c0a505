// The network devices of this host, and which of them UCX is told to use.
//
// Threads: any thread.
//
// The choice is arithmetic over what was found, so it is tested with lists of machines that we do not have. Remote
// direct memory access itself has not been run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus {

struct NetworkDevice {
  std::string name;                // as UCX names it: "eth0", "mlx5_0:1"
  std::string interface;           // "eth0": itself, or what an RDMA port belongs to; empty: none
  std::vector<std::string> hosts;  // addresses of the interface
  std::int64_t speed_mbit = 0;     // 0: unknown
  bool is_rdma = false;
  bool is_active = true;
};

// Interfaces with an address, then RDMA ports. `sys` is where sysfs is mounted.
std::vector<NetworkDevice> find_network_devices(const std::string& sys = "/sys");

struct UcxDevices {
  std::string transports;  // UCX's TLS: "tcp", "rc,tcp"
  std::string devices;     // UCX's NET_DEVICES: "eth0", "mlx5_0:1,eth0"
  std::string reason;      // for `isthmus info`
};

// What carries the lanes of the local address `host`. "auto" for both: an active RDMA port of the interface that has
// the address, the fastest if there are several, with TCP beside it; else TCP alone. unavailable: no interface has the
// address. invalid_argument: transports without tcp, over which workers find each other.
Result<UcxDevices> choose_ucx_devices(std::span<const NetworkDevice> found, std::string_view host,
                                      std::string_view wanted_transports, std::string_view wanted_devices);

// What would be taken for each local address, a line each: for `isthmus info`.
std::vector<std::string> describe_ucx_devices(std::span<const NetworkDevice> found, std::string_view wanted_transports,
                                              std::string_view wanted_devices);

}  // namespace isthmus
