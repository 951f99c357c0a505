// Which rank of how many this process is, from the variables of the launchers: RANK and WORLD_SIZE (isthmus lab,
// torchrun), OMPI_COMM_WORLD_* (Open MPI), PMI_* (MPICH and others), SLURM_* (srun).
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/base/status.h"

namespace isthmus::bench {

inline constexpr std::uint16_t kDefaultMasterPort = 29500;

struct Launch {
  std::string launcher;  // the two variables that said so: "RANK/WORLD_SIZE"
  int rank = 0, world_size = 0;
  std::string master_host;  // where rank 0 serves the rendezvous; a name or a numeric address
  std::uint16_t master_port = kDefaultMasterPort;
};

// The value of an environment variable; none when unset or empty.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;

// invalid_argument: no launcher's variables are set (a lone process would be a world of its own and measure nothing),
// they are not numbers or contradict each other, the world has other than `expect_ranks` ranks (0: any) or only one, or
// nothing says where rank 0 is. MASTER_ADDR may be left out when all ranks share a host and the launcher says so.
//
// torchrun serves its own store at MASTER_PORT; the rendezvous then takes the port above it.
Result<Launch> detect_launch(const EnvironmentLookup& lookup, int expect_ranks);

}  // namespace isthmus::bench
