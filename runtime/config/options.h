// Options of a runtime. Structs carry them; the environment only fills the structs (see environment.h), and layers
// below the bindings never look at the environment.
//
// Threads: values.
//
// Every field is one row of the table in option_table.cc: name, ISTHMUS_* variable, type, unit, range, default and a
// sentence. The table drives parsing, `isthmus info --options`, access from Python and the README.
#pragma once

#include <cstdint>
#include <string>

namespace isthmus {

struct Options {
  // Where this process is
  std::string site;                 // name of the site; empty: detected by round-trip time
  std::string wan_interface;        // names or CIDRs, comma separated; empty: by route to the peers
  std::string advertise_address;    // numeric address that peers dial instead of the bound one; empty: the bound one
  std::string port_range;           // "40000-40050"; empty: any
  std::int64_t site_rtt_us = 2000;  // detection: hosts closer than this are one site

  // How payload moves
  std::string transport = "auto";  // auto, libfabric, ucx
  std::string ucx_tls = "auto";
  std::string ucx_devices = "auto";
  std::string algorithm = "auto";   // allreduce between sites: auto, exchange, direct, ring, tree
  std::string all_to_all = "auto";  // auto, pairwise, staged
  std::string sites_file;           // TOML file of sites and links; empty: see measure_ms
  std::int64_t measure_ms = 0;      // limit for measuring the lines when a communicator is made; 0: not measured
  std::string site_tier = "auto";   // auto, shm, link
  std::int64_t wan_lanes = 0;
  std::string wan_congestion = "auto";  // auto, bbr, cubic, system
  std::int64_t chunk_bytes = 256 * 1024;
  std::int64_t segment_bytes = 256 * 1024;
  std::int64_t eager_bytes = 8 * 1024 * 1024;
  std::int64_t lane_window_bytes = 16 * 1024 * 1024;
  std::int64_t reduce_threads = 1;

  // How long things may take
  std::int64_t timeout_ms = 300'000;
  std::int64_t connect_timeout_ms = 60'000;
  std::int64_t link_grace_ms = 30'000;
  std::int64_t heartbeat_ms = 500;
  std::int64_t suspect_ms = 3'000;
  std::int64_t drain_ms = 5'000;

  // Who may take part
  std::string secret;             // as `isthmus secret new` prints it; empty: see secret_file
  std::string secret_file;        // path of a file with the secret; empty: see secret
  std::string security = "auto";  // auto, on, off
  std::string cipher = "auto";    // auto, aes-256-gcm, chacha20-poly1305

  std::string log_level = "warning";  // off, error, warning, info, debug

  bool deterministic = false;  // allreduce: only algorithms in site order
};

}  // namespace isthmus
