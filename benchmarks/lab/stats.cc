#include "benchmarks/lab/stats.h"

#include <vector>

#include "benchmarks/lab/address_plan.h"

namespace isthmus::lab {
namespace {

const std::string& name_of(const Wan& wan, int site) {
  return wan.topology().sites[static_cast<std::size_t>(site)].name;
}

double megabytes(const PacketCount& count) { return static_cast<double>(count.bytes) / 1e6; }

double megabits_per_sec(const PacketCount& count, Duration elapsed) {
  return elapsed > Duration::zero() ? static_cast<double>(count.bytes) * 8e-6 / to_seconds(elapsed) : 0;
}

// Sums over the pairs of a site.
struct SiteTotals {
  PacketCount up, up_dropped, down, down_dropped;
};

SiteTotals totals_of(const Wan& wan, int site) {
  SiteTotals totals;
  for (int other = 0; other < wan.topology().site_count(); ++other) {
    totals.up += wan.counters(site, other).wire;
    totals.up_dropped += wan.counters(site, other).up_dropped;
    totals.down += wan.counters(other, site).delivered;
    totals.down_dropped += wan.counters(other, site).down_dropped;
  }
  return totals;
}

template <typename Visit>
void each_pair(const Wan& wan, Visit visit) {
  for (int from = 0; from < wan.topology().site_count(); ++from) {
    for (int to = 0; to < wan.topology().site_count(); ++to) {
      if (from != to) visit(from, to, wan.counters(from, to));
    }
  }
}

std::string count_json(std::string_view name, const PacketCount& count) {
  return fmt::format(R"("{0}_packets": {1}, "{0}_bytes": {2})", name, count.packets, count.bytes);
}

std::string site_json(const Wan& wan, int site) {
  const SiteTotals totals = totals_of(wan, site);
  return fmt::format(R"({{"name": "{}", "up_bits_per_sec": {}, "down_bits_per_sec": {}, {}, {}, {}, {}}})",
                     name_of(wan, site), wan.up_line(site).rate_bits_per_sec(), wan.down_line(site).rate_bits_per_sec(),
                     count_json("up", totals.up), count_json("up_dropped", totals.up_dropped),
                     count_json("down", totals.down), count_json("down_dropped", totals.down_dropped));
}

std::string pair_json(const Wan& wan, int from, int to, const PairCounters& c) {
  const PairSpec& spec = wan.topology().pair(from, to);
  return fmt::format(
      R"({{"from": "{}", "to": "{}", "delay_us": {}, "jitter_us": {}, "loss": {:g}, {}, {}, {}, {}, {}, {}, {}, {}}})",
      name_of(wan, from), name_of(wan, to), spec.delay.count() / 1000, spec.jitter.count() / 1000, spec.loss,
      count_json("wire", c.wire), count_json("delivered", c.delivered), count_json("lost", c.lost),
      count_json("cut", c.cut), count_json("up_dropped", c.up_dropped), count_json("down_dropped", c.down_dropped),
      count_json("filtered", c.filtered), count_json("capped", c.capped));
}

std::string border_text(const Wan& wan, int site) {
  const SiteSpec& spec = wan.topology().sites[static_cast<std::size_t>(site)];
  std::string out;
  if (spec.inbound_ports)
    out += fmt::format(", inbound ports {}-{}", spec.inbound_ports->low, spec.inbound_ports->high);
  if (!spec.nat.enabled) return out;
  out += fmt::format(", NAT as {}", site_public_ipv4_text(site));
  for (const PortForward& forward : spec.nat.forwards)
    out += fmt::format(", {}-{} to {}", forward.from.low, forward.from.high, forward.to_low);
  return out;
}

}  // namespace

std::string stats_table(const Wan& wan, const ForwarderCounters& forwarder, Duration elapsed) {
  std::string out = fmt::format("{:<14} {:>12} {:>10} {:>11} {:>8} {:>8} {:>8} {:>10}\n", "pair", "wire MB", "packets",
                                "mean Mbit/s", "lost", "cut", "up drop", "down drop");
  each_pair(wan, [&](int from, int to, const PairCounters& c) {
    if (c.wire.packets + c.up_dropped.packets == 0) return;
    out += fmt::format("{:<14} {:>12.3f} {:>10} {:>11.2f} {:>8} {:>8} {:>8} {:>10}\n",
                       fmt::format("{} -> {}", name_of(wan, from), name_of(wan, to)), megabytes(c.wire), c.wire.packets,
                       megabits_per_sec(c.wire, elapsed), c.lost.packets, c.cut.packets, c.up_dropped.packets,
                       c.down_dropped.packets);
  });
  for (int site = 0; site < wan.topology().site_count(); ++site) {
    const SiteTotals totals = totals_of(wan, site);
    out += fmt::format("site {}: up {:.3f} MB, {} dropped; down {:.3f} MB, {} dropped\n", name_of(wan, site),
                       megabytes(totals.up), totals.up_dropped.packets, megabytes(totals.down),
                       totals.down_dropped.packets);
  }
  out += fmt::format("{:.2f} s; packets at most {:.2f} ms late\n", to_seconds(elapsed),
                     to_seconds(forwarder.latest) * 1e3);
  if (forwarder.pool_dropped + forwarder.refused > 0) {
    out += fmt::format(
        "WARNING: the emulator itself dropped {} packets for want of memory and {} at a device: do not "
        "trust this run's figures\n",
        forwarder.pool_dropped, forwarder.refused);
  }
  return out;
}

std::string stats_json(const Wan& wan, const ForwarderCounters& forwarder, Duration elapsed) {
  std::vector<std::string> sites;
  for (int site = 0; site < wan.topology().site_count(); ++site) sites.push_back("    " + site_json(wan, site));
  std::vector<std::string> pairs;
  each_pair(wan,
            [&](int from, int to, const PairCounters& c) { pairs.push_back("    " + pair_json(wan, from, to, c)); });
  return fmt::format(
      "{{\n  \"elapsed_s\": {:.6f},\n  \"mtu_bytes\": {},\n  \"queue_ms\": {:g},\n  \"emulator_dropped_packets\": {},\n"
      "  \"latest_ms\": {:.3f},\n  \"sites\": [\n{}\n  ],\n  \"pairs\": [\n{}\n  ]\n}}\n",
      to_seconds(elapsed), wan.topology().mtu, to_seconds(wan.topology().queue) * 1e3,
      forwarder.pool_dropped + forwarder.refused, to_seconds(forwarder.latest) * 1e3, fmt::join(sites, ",\n"),
      fmt::join(pairs, ",\n"));
}

std::string flows_table(const Wan& wan) {
  std::string out =
      fmt::format("{:>4} {:<24} {:>12} {:>12} {:>10}\n", "flow", "opened", "sent MB", "answered MB", "cap");
  for (std::size_t i = 0; i < wan.flows().size(); ++i) {
    const Flow& flow = wan.flows()[i];
    out += fmt::format("{:>4} {:<24} {:>12.3f} {:>12.3f} {:>10}\n", i,
                       fmt::format("{}:{} -> {}:{}", name_of(wan, flow.opener), flow.opener_port,
                                   name_of(wan, flow.other), flow.other_port),
                       static_cast<double>(flow.from_opener.bytes) / 1e6,
                       static_cast<double>(flow.from_other.bytes) / 1e6, format_rate(flow.cap_bits_per_sec));
  }
  return out;
}

std::string flows_json(const Wan& wan) {
  std::vector<std::string> flows;
  for (const Flow& flow : wan.flows())
    flows.push_back(fmt::format(
        R"({{"opener": "{}", "opener_port": {}, "other": "{}", "other_port": {}, "sent_bytes": {}, "answered_bytes": {}, )"
        R"("cap_bits_per_sec": {}}})",
        name_of(wan, flow.opener), flow.opener_port, name_of(wan, flow.other), flow.other_port, flow.from_opener.bytes,
        flow.from_other.bytes,
        flow.cap_bits_per_sec == kUnlimitedRate ? "null" : fmt::format("{}", flow.cap_bits_per_sec)));
  return fmt::format("[{}]\n", fmt::join(flows, ",\n "));
}

std::string settings_table(const Wan& wan) {
  std::string out;
  for (int site = 0; site < wan.topology().site_count(); ++site) {
    out += fmt::format("site {}: up {}, down {}{}{}\n", name_of(wan, site),
                       format_rate(wan.up_line(site).rate_bits_per_sec()),
                       format_rate(wan.down_line(site).rate_bits_per_sec()), border_text(wan, site),
                       wan.is_site_cut(site) ? ", cut" : "");
  }
  each_pair(wan, [&](int from, int to, const PairCounters&) {
    if (from > to) return;
    const PairSpec& spec = wan.topology().pair(from, to);
    out += fmt::format("{} - {}: delay {} one way, jitter {}, loss {}{}\n", name_of(wan, from), name_of(wan, to),
                       format_duration(spec.delay), format_duration(spec.jitter), format_fraction(spec.loss),
                       wan.is_cut(from, to) ? ", cut" : "");
  });
  return out;
}

}  // namespace isthmus::lab
