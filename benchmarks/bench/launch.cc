#include "benchmarks/bench/launch.h"

#include <array>
#include <charconv>

namespace isthmus::bench {
namespace {

struct Variables {
  const char* rank;
  const char* world_size;
  const char* local_size;  // of this host
};

constexpr std::array<Variables, 4> kLaunchers{
    {{"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
     {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE"}}};

Result<int> number(const EnvironmentLookup& lookup, const std::string& name, int low, int high) {
  const std::optional<std::string> text = lookup(name);
  if (!text) return invalid_argument("{} is not set", name);
  int value = 0;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc() || end != last || value < low || value > high)
    return invalid_argument("{}={} is not a number from {} to {}", name, *text, low, high);
  return value;
}

const Variables* find_launcher(const EnvironmentLookup& lookup) {
  for (const Variables& names : kLaunchers)
    if (lookup(names.rank) || lookup(names.world_size)) return &names;
  return nullptr;
}

Status no_launcher() {
  std::string names;
  for (const Variables& each : kLaunchers)
    names += fmt::format("{}{} and {}", names.empty() ? "" : ", ", each.rank, each.world_size);
  return invalid_argument(
      "no launcher has started this process (none of {} is set), so it would be a world of its own and measure "
      "nothing; "
      "start it with isthmus lab, torchrun, mpirun or srun",
      names);
}

Status check_world(const Launch& launch, int expect_ranks) {
  if (expect_ranks != 0 && launch.world_size != expect_ranks)
    return invalid_argument("{} ranks are expected, but the world has {} (from {})", expect_ranks, launch.world_size,
                            launch.launcher);
  if (launch.world_size < 2)
    return invalid_argument("the world has one rank (from {}): there is nothing to measure", launch.launcher);
  return Status();
}

Status read_master(const EnvironmentLookup& lookup, const Variables& names, Launch* launch) {
  if (const auto host = lookup("MASTER_ADDR")) {
    launch->master_host = *host;
  } else if (const auto local = number(lookup, names.local_size, 1, launch->world_size);
             local.ok() && *local == launch->world_size) {
    launch->master_host = "127.0.0.1";
  } else {
    return invalid_argument("MASTER_ADDR is not set: give all ranks the address of rank 0's host");
  }
  constexpr int kMaxPort = 65535;
  if (lookup("MASTER_PORT")) {
    ISTHMUS_ASSIGN_OR_RETURN(const int port, number(lookup, "MASTER_PORT", 1, kMaxPort));
    launch->master_port = static_cast<std::uint16_t>(port);
  }
  if (lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True") {
    if (launch->master_port == kMaxPort) return invalid_argument("MASTER_PORT={}: no port above it is left", kMaxPort);
    ++launch->master_port;
  }
  return Status();
}

}  // namespace

Result<Launch> detect_launch(const EnvironmentLookup& lookup, int expect_ranks) {
  constexpr int kMaxRanks = 1'000'000;
  const Variables* const names = find_launcher(lookup);
  if (names == nullptr) return no_launcher();
  Launch launch;
  launch.launcher = fmt::format("{}/{}", names->rank, names->world_size);
  ISTHMUS_ASSIGN_OR_RETURN(launch.world_size, number(lookup, names->world_size, 1, kMaxRanks));
  ISTHMUS_ASSIGN_OR_RETURN(launch.rank, number(lookup, names->rank, 0, launch.world_size - 1));
  ISTHMUS_RETURN_IF_ERROR(check_world(launch, expect_ranks));
  ISTHMUS_RETURN_IF_ERROR(read_master(lookup, *names, &launch));
  return launch;
}

}  // namespace isthmus::bench
