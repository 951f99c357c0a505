// Reads a network from a TOML file, `sites.toml`. The format is that of the lab's topology files, so that one file
// describes what is emulated and what is planned for; keys that only the lab needs are skipped.
//
//   mtu = 1500                      # of the way between sites; payload gets what headers leave
//   [[site]]
//   name = "oslo"                   # as the option `site` of its ranks
//   ranks = 2
//   rate = "100mbit"                # of its line, up and down; or up = and down =
//   [[link]]
//   between = ["oslo", "rome"]
//   rtt = "40ms"                    # or delay =, one way
//   loss = "0.1%"
//   rate = "50mbit"                 # where the way between the two is narrower than their lines
//
// Threads: any thread.
#pragma once

#include <string>
#include <string_view>

#include "collectives/plan/network.h"

namespace isthmus {

// What the file does not say is taken from here.
struct SitesFileDefaults {
  int mtu = 1500;
  SiteLine line{.name = "", .rank_count = 1, .up_bytes_per_sec = 12'500'000, .down_bytes_per_sec = 12'500'000};
  SitePath path{.delay_us = 30'000};
};

// An error names the file, the line and the key.
Result<Network> load_sites_file(const std::string& path, const SitesFileDefaults& defaults);
Result<Network> parse_sites_file(std::string_view text, const std::string& path, const SitesFileDefaults& defaults);

// From "100mbit": bytes per second; "unlimited" is kMaxPlannedRate.
Result<std::int64_t> parse_planned_rate(std::string_view text);

}  // namespace isthmus
