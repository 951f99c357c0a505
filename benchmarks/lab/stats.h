// What went over the WAN, as a table and as JSON.
//
// Threads: any thread; the caller keeps the Wan still.
#pragma once

#include <string>

#include "benchmarks/lab/forwarder.h"
#include "benchmarks/lab/wan.h"

namespace isthmus::lab {

// Bytes and drops per pair and per site. Pairs without a packet are left out.
std::string stats_table(const Wan& wan, const ForwarderCounters& forwarder, Duration elapsed);

// The same and the settings, with all pairs (README.md lists the keys).
std::string stats_json(const Wan& wan, const ForwarderCounters& forwarder, Duration elapsed);

// The TCP connections between sites, by number, with the bytes that the opener and the other side have sent.
std::string flows_table(const Wan& wan);
std::string flows_json(const Wan& wan);

// The settings now: lines of the sites, filters and NAT, delay, jitter and loss of the pairs, cuts.
std::string settings_table(const Wan& wan);

}  // namespace isthmus::lab
