// World: ranks as threads of one process, each with a runtime of its own over the loopback transport, shaped as a WAN.
//
// run_world() makes the runtimes and one communicator, runs `body` on every rank's thread, and ends everything. A
// failure of any rank is reported as a test failure that names the rank.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "runtime/config/options.h"
#include "runtime/transport/shaped/control.h"

namespace isthmus {

struct WorldOptions {
  std::vector<int> ranks_per_site{1, 1};
  bool interleave = false;                       // ranks numbered across the sites in turn, not site by site
  std::optional<Shape> shape;                    // of every rank's outgoing lanes; none: the bare loopback
  Options options;                               // of every runtime; `site` is set by the world
  std::function<void(int rank, Options&)> edit;  // per rank
  std::uint64_t seed = 1;
};

// One in which buffers of some tens of KiB take many chunks and segments, over lanes that are late by chance.
WorldOptions world_of_small_steps(const std::vector<int>& ranks_per_site, bool interleave);

struct WorldRank {
  int rank = 0;
  Runtime* runtime = nullptr;
  Communicator* communicator = nullptr;
  ShapedControl* line = nullptr;  // nullptr without a shape

  int size() const { return communicator->size(); }
};

// Runs `body` on all ranks at once and returns when all have ended. The result of body is a failure unless ok.
void run_world(const WorldOptions& options, const std::function<void(WorldRank&)>& body);

// Names of sites: "site0", "site1", ... by rank.
std::vector<int> world_sites(const WorldOptions& options);

// Waits for a Result<shared_ptr<Work>> and returns how it ended.
Status wait_for(const Communicator::WorkResult& work);

}  // namespace isthmus
