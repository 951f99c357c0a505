#include "runtime/config/option_table.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/config/option_access.h"

namespace isthmus {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * 1024, kGiB = 1024 * kMiB;
constexpr double kDayMs = 24.0 * 3600 * 1000;

constexpr OptionRow kTable[] = {
    {"site", "ISTHMUS_SITE", &Options::site, "", 0, 0, "", "a name without spaces",
     "Name of the site that this process belongs to; set on all ranks or on none. Empty: detected by round-trip time."},
    {"wan_interface", "ISTHMUS_WAN_INTERFACE", &Options::wan_interface, "", 0, 0, "",
     "interface names, addresses or CIDRs, comma separated; ^ before one excludes it",
     "Local addresses that listen for peers. Empty: chosen by route to the peers, loopback if all share a host."},
    {"advertise_address", "ISTHMUS_ADVERTISE_ADDRESS", &Options::advertise_address, "", 0, 0, "",
     "a numeric IPv4 or IPv6 address",
     "Address that peers dial instead of the bound one (behind NAT; the ports stay the same). Empty: the bound one."},
    {"port_range", "ISTHMUS_PORT_RANGE", &Options::port_range, "", 0, 0, "", "LOW-HIGH within 1..65535",
     "Ports that listeners may use, two per process of a host. Empty: any free port."},
    {"site_rtt_us", "ISTHMUS_SITE_RTT_US", &Options::site_rtt_us, "us", 1, 1e6, "", "",
     "Site detection: hosts whose round trip is shorter than this form one site."},

    {"transport", "ISTHMUS_TRANSPORT", &Options::transport, "", 0, 0, "auto|libfabric|ucx", "",
     "What carries payload between processes; equal on all ranks. auto: libfabric where it is installed, else ucx."},
    {"ucx_tls", "ISTHMUS_UCX_TLS", &Options::ucx_tls, "", 0, 0, "", "auto, or names of UCX with tcp among them",
     "Transports that UCX may use. auto: rc with tcp where the local address has an RDMA port, else tcp."},
    {"ucx_devices", "ISTHMUS_UCX_DEVICES", &Options::ucx_devices, "", 0, 0, "", "auto, or names such as mlx5_0:1,eth0",
     "Network devices that UCX may use. auto: those of the local address."},
    {"algorithm", "ISTHMUS_ALGORITHM", &Options::algorithm, "", 0, 0, "auto|exchange|direct|ring|tree", "",
     "Algorithm of an allreduce between sites."},
    {"deterministic", "ISTHMUS_DETERMINISTIC", &Options::deterministic, "", 0, 0, "", "",
     "Only algorithms that sum in site order, so that results repeat across restarts and shapes; others are refused."},
    {"all_to_all", "ISTHMUS_ALL_TO_ALL", &Options::all_to_all, "", 0, 0, "auto|pairwise|staged", "",
     "Algorithm of an all-to-all of equal blocks. auto: staged, one message per pair of sites, while that is small."},
    {"sites_file", "ISTHMUS_SITES_FILE", &Options::sites_file, "", 0, 0, "", "the path of a TOML file",
     "Lines of the sites and ways between them, to plan with, for three sites or more; rank 0 reads it. Empty: "
     "see measure_ms."},
    {"measure_ms", "ISTHMUS_MEASURE_MS", &Options::measure_ms, "ms", 0, 60'000, "", "",
     "Time for measuring the lines of three sites or more when their communicator is made, and as much traffic as "
     "they carry in it. 0: equal lines are assumed."},
    {"site_tier", "ISTHMUS_SITE_TIER", &Options::site_tier, "", 0, 0, "auto|shm|link", "",
     "How ranks of one site move payload: shared memory of their host, or links."},
    {"wan_lanes", "ISTHMUS_WAN_LANES", &Options::wan_lanes, "", 0, 64, "", "",
     "Connections of one link. 0: as many as raise the measured throughput; a line that loses packets wants more."},
    {"wan_congestion", "ISTHMUS_WAN_CONGESTION", &Options::wan_congestion, "", 0, 0, "auto|bbr|cubic|system", "",
     "Congestion control of lanes. auto: bbr where the kernel admits it, else the system's."},
    {"chunk_bytes", "ISTHMUS_CHUNK_BYTES", &Options::chunk_bytes, "bytes", 4 * kKiB, 64 * kMiB, "", "",
     "Unit of a schedule, at most: a pipeline works on one chunk while the next is under way."},
    {"segment_bytes", "ISTHMUS_SEGMENT_BYTES", &Options::segment_bytes, "bytes", kKiB, 2 * kMiB, "", "",
     "Unit on a lane at most; at most chunk_bytes. Slow lanes take shorter ones, of some 60 ms."},
    {"eager_bytes", "ISTHMUS_EAGER_BYTES", &Options::eager_bytes, "bytes", 0, kGiB, "", "",
     "Per operation and peer: payload taken in at most before this rank has issued the operation."},
    {"lane_window_bytes", "ISTHMUS_LANE_WINDOW_BYTES", &Options::lane_window_bytes, "bytes", 64 * kKiB, 4 * kGiB, "",
     "", "Per lane: what may be under way at most; its measured rate and round trip call for less as a rule."},
    {"reduce_threads", "ISTHMUS_REDUCE_THREADS", &Options::reduce_threads, "", 1, 64, "", "",
     "Threads that reduce and copy."},

    {"timeout_ms", "ISTHMUS_TIMEOUT_MS", &Options::timeout_ms, "ms", 1, 30 * kDayMs, "", "",
     "An operation fails when its payload has not advanced for this long."},
    {"connect_timeout_ms", "ISTHMUS_CONNECT_TIMEOUT_MS", &Options::connect_timeout_ms, "ms", 1, kDayMs, "", "",
     "Limit for all processes of a group to find and reach each other."},
    {"link_grace_ms", "ISTHMUS_LINK_GRACE_MS", &Options::link_grace_ms, "ms", 100, kDayMs, "", "",
     "A path that is silent for this long is an error; shorter cuts are survived."},
    {"heartbeat_ms", "ISTHMUS_HEARTBEAT_MS", &Options::heartbeat_ms, "ms", 10, 60'000, "", "",
     "Interval of heartbeats between peers."},
    {"suspect_ms", "ISTHMUS_SUSPECT_MS", &Options::suspect_ms, "ms", 20, kDayMs, "", "",
     "A path that is silent for this long is reported as suspect; above heartbeat_ms and below link_grace_ms."},
    {"drain_ms", "ISTHMUS_DRAIN_MS", &Options::drain_ms, "ms", 0, 600'000, "", "",
     "At the end: limit for the peers to acknowledge what was sent, and the goodbye."},

    {"secret", "ISTHMUS_SECRET", &Options::secret, "", 0, 0, "", "a text that `isthmus secret new` printed",
     "Job secret, the same on every rank: what lets a process take part. Empty: the one in secret_file, if any.", true},
    {"secret_file", "ISTHMUS_SECRET_FILE", &Options::secret_file, "", 0, 0, "", "the path of a file of mode 0600",
     "File with the job secret; safer than ISTHMUS_SECRET, which other processes of the user can read."},
    {"security", "ISTHMUS_SECURITY", &Options::security, "", 0, 0, "auto|on|off", "",
     "auto: with a secret, control and what crosses sites is sealed; several sites need one. on: links inside a site, "
     "too. off: all in plain."},
    {"cipher", "ISTHMUS_CIPHER", &Options::cipher, "", 0, 0, "auto|aes-256-gcm|chacha20-poly1305", "",
     "Cipher of sealed traffic. auto: AES where both processors have instructions for it."},

    {"log_level", "ISTHMUS_LOG_LEVEL", &Options::log_level, "", 0, 0, "off|error|warning|info|debug", "",
     "Lines up to this level go to the log."},
};

// Levenshtein's distance by rows: O(|a| |b|) time, one row of memory.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const OptionRow> option_table() { return kTable; }

const OptionRow* find_option(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kTable), std::end(kTable), [&](const auto& row) { return row.name == name; });
  return found == std::end(kTable) ? nullptr : found;
}

std::string_view option_type(const OptionRow& row) {
  constexpr std::string_view kNames[] = {"switch", "integer", "number", "text"};
  return row.choices.empty() ? kNames[row.field.index()] : "choice";
}

std::string option_range(const OptionRow& row) {
  if (std::holds_alternative<bool Options::*>(row.field)) return "on, off";
  if (std::holds_alternative<std::int64_t Options::*>(row.field)) {
    return fmt::format("{}..{}", static_cast<std::int64_t>(row.low), static_cast<std::int64_t>(row.high));
  }
  if (std::holds_alternative<double Options::*>(row.field)) return fmt::format("{}..{}", row.low, row.high);
  std::string range(row.choices.empty() ? row.form : row.choices);
  for (std::size_t bar; !row.choices.empty() && (bar = range.find('|')) != std::string::npos;)
    range.replace(bar, 1, ", ");
  return range;
}

std::string option_default(const OptionRow& row) { return option_text(Options{}, row); }

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  const auto nearer = [&](auto a, auto b) { return edit_distance(name, a) < edit_distance(name, b); };
  const auto best = std::min_element(candidates.begin(), candidates.end(), nearer);
  return best == candidates.end() ? std::string_view{} : *best;
}

}  // namespace isthmus
