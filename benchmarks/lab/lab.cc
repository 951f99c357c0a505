#include "benchmarks/lab/lab.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "benchmarks/lab/address_plan.h"
#include "benchmarks/lab/forwarder.h"
#include "benchmarks/lab/guardian.h"
#include "benchmarks/lab/host_congestion.h"
#include "benchmarks/lab/rank_environment.h"
#include "benchmarks/lab/run_directory.h"
#include "benchmarks/lab/site_namespace.h"
#include "benchmarks/lab/stats.h"
#include "benchmarks/lab/supervisor.h"

namespace isthmus::lab {
namespace {

void say(const LabOptions& options, std::string_view text) {
  if (!options.quiet) fmt::print(stderr, "isthmus-lab: {}\n", text);
}

// Takes out of the host's settings what labs have added, unless another lab still lives.
void restore_host(const std::string& base) {
  const Status restored = living_runs(base).empty() ? restore_congestion(base) : Status();
  if (!restored.ok()) fmt::print(stderr, "isthmus-lab: {}\n", restored.message());
}

// Cleans up after labs that could not, and makes this run's directory.
Result<RunDirectory> begin_run(const std::string& base, const LabOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(const BaseLock lock, BaseLock::take(base));
  for (const std::string& sentence : remove_leftovers(base)) say(options, sentence);
  restore_host(base);
  ISTHMUS_ASSIGN_OR_RETURN(RunDirectory run, RunDirectory::create(base, options.name));
  if (!options.congestion.empty()) ISTHMUS_RETURN_IF_ERROR(allow_congestion(base, options.congestion));
  return run;
}

// Ends it in the right order: first the run's directory goes, then the host is put back if it was the last run.
class RunEnd {
 public:
  RunEnd(std::string base, RunDirectory run) : base_(std::move(base)), run_(std::move(run)) {}
  ~RunEnd() {
    const Result<BaseLock> lock = BaseLock::take(base_);
    run_.reset();
    restore_host(base_);
  }
  const RunDirectory& run() const { return *run_; }

 private:
  std::string base_;
  std::optional<RunDirectory> run_;
};

Result<std::vector<SiteNamespace>> create_sites(const LabOptions& options, const std::string& scratch) {
  SiteNamespaceSpec spec;
  spec.mtu = options.topology.mtu;
  spec.congestion = options.congestion;
  spec.loopback_hostname = options.loopback_hostname;
  spec.group = ::getegid();
  spec.scratch_directory = scratch;
  for (const SiteSpec& site : options.topology.sites) spec.site_names.push_back(site.name);
  std::vector<SiteNamespace> sites;
  std::set<std::string> warnings;
  for (; spec.site < options.topology.site_count(); ++spec.site) {
    spec.site_hosts.clear();
    for (int other = 0; other < options.topology.site_count(); ++other)
      spec.site_hosts.push_back(reachable_ipv4_text(options.topology, spec.site, other));
    ISTHMUS_ASSIGN_OR_RETURN(SiteNamespace site, SiteNamespace::create(spec));
    if (!site.warning().empty()) warnings.insert(site.warning());
    sites.push_back(std::move(site));
  }
  for (const std::string& warning : warnings) say(options, "note: " + warning);
  return sites;
}

Status add_pipe(Fd* write_end, std::vector<RankOutput>* outputs, std::FILE* to, const std::string& prefix) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return unavailable("cannot make a pipe: {}", errno_message(errno));
  outputs->push_back({Fd(ends[0]), to, LinePrefixer(prefix)});
  write_end->reset(ends[1]);
  return Status();
}

Result<std::vector<RankProcess>> plan_ranks(const LabOptions& options, const std::string& mark,
                                            const char* const* environment, std::vector<RankOutput>* outputs) {
  const Topology& topology = options.topology;
  std::vector<std::string> added{mark};
  ISTHMUS_ASSIGN_OR_RETURN(std::string secret, secret_entry(environment));
  if (!secret.empty()) added.push_back(std::move(secret));
  std::vector<RankProcess> ranks;
  for (int site = 0; site < topology.site_count(); ++site) {
    const SiteSpec& spec = topology.sites[static_cast<std::size_t>(site)];
    for (int local = 0; local < spec.rank_count; ++local) {
      RankProcess rank;
      rank.rank = topology.first_rank(site) + local;
      rank.site = site;
      rank.environment = rank_environment(environment, topology, site, local, options.master_port, added);
      const std::string prefix = fmt::format("[{}.r{}] ", spec.name, rank.rank);
      ISTHMUS_RETURN_IF_ERROR(add_pipe(&rank.output, outputs, stdout, prefix));
      ISTHMUS_RETURN_IF_ERROR(add_pipe(&rank.errors, outputs, stderr, prefix));
      ranks.push_back(std::move(rank));
    }
  }
  return ranks;
}

std::string summary(const LabOptions& options, const RunDirectory& run, const std::string& congestion) {
  const Topology& topology = options.topology;
  return fmt::format("run '{}': {} site{} ({}..{}), {} ranks, MTU {}, congestion control {}", run.name(),
                     topology.site_count(), topology.site_count() == 1 ? ", no WAN" : "s", site_ipv4_text(0),
                     site_ipv4_text(topology.site_count() - 1), topology.world_size(), topology.mtu, congestion);
}

Status report(const LabOptions& options, Forwarder& forwarder, Duration elapsed) {
  std::string table, json;
  forwarder.with_wan([&](Wan& wan, const ForwarderCounters& counters) {
    table = stats_table(wan, counters, elapsed);
    json = stats_json(wan, counters, elapsed);
  });
  if (!options.quiet && options.topology.site_count() > 1) fmt::print(stderr, "{}", table);
  if (options.stats_json.empty()) return Status();
  std::ofstream file(options.stats_json);
  file << json << std::flush;
  if (!file) return unavailable("--stats-json {}: cannot write this file", options.stats_json);
  return Status();
}

}  // namespace

Result<int> run_lab(const LabOptions& options, const char* const* environment) {
  ISTHMUS_ASSIGN_OR_RETURN(SignalFd signals, SignalFd::create());
  ISTHMUS_ASSIGN_OR_RETURN(const std::string base, base_directory());
  if (::geteuid() != 0) ISTHMUS_RETURN_IF_ERROR(enter_user_namespace());
  ISTHMUS_ASSIGN_OR_RETURN(RunDirectory made, begin_run(base, options));
  const RunEnd end(base, std::move(made));

  ISTHMUS_ASSIGN_OR_RETURN(std::vector<SiteNamespace> sites, create_sites(options, end.run().path()));
  std::vector<Fd> tuns;
  for (SiteNamespace& site : sites) tuns.push_back(site.take_tun());
  const std::string congestion = sites.front().congestion();
  ISTHMUS_ASSIGN_OR_RETURN(const auto forwarder,
                           Forwarder::create(options.topology, std::move(tuns), options.seed, options.reorder));
  ISTHMUS_ASSIGN_OR_RETURN(ControlServer control, ControlServer::listen(end.run().socket_path()));
  std::vector<RankOutput> outputs;
  ISTHMUS_ASSIGN_OR_RETURN(auto ranks, plan_ranks(options, end.run().mark(), environment, &outputs));
  say(options, summary(options, end.run(), congestion));

  const TimePoint start = SteadyClock::instance().now();
  ISTHMUS_ASSIGN_OR_RETURN(Guardian guardian, Guardian::start(std::move(ranks), std::move(sites), options.command));
  Supervisor supervisor(options, *forwarder, std::move(guardian), std::move(control), std::move(signals),
                        std::move(outputs), start);
  const Status started = forwarder->start();
  const Result<int> status = started.ok() ? supervisor.run() : Result<int>(started);
  const Duration elapsed = SteadyClock::instance().now() - start;
  forwarder->stop();
  ISTHMUS_RETURN_IF_ERROR(report(options, *forwarder, elapsed));
  return status;
}

}  // namespace isthmus::lab
