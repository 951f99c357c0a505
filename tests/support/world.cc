#include "tests/support/world.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/bootstrap/memory_store.h"
#include "runtime/control/memory_control.h"
#include "runtime/security/security_config.h"
#include "runtime/transport/loopback/listener.h"
#include "runtime/transport/loopback/transport.h"
#include "runtime/transport/shaped/transport.h"

namespace isthmus {
namespace {

struct Fabric {
  std::shared_ptr<LoopbackFabric> lanes = std::make_shared<LoopbackFabric>();
  std::shared_ptr<MemoryControlNetwork> control;
  std::string secret;  // empty: the world is plain on purpose, or has its own
  std::string store_name;
};

// A world has a secret, unless its options say what is to be done about security.
Status secure(const Options& options, Fabric* fabric) {
  Options secured = options;
  if (options.security == "auto" && options.secret.empty() && options.secret_file.empty()) {
    ISTHMUS_ASSIGN_OR_RETURN(const JobSecret secret, JobSecret::generate());
    fabric->secret = secured.secret = secret.text();
  }
  ISTHMUS_ASSIGN_OR_RETURN(const SecurityConfig config, load_security(secured));
  fabric->control = std::make_shared<MemoryControlNetwork>(config.secret);
  return Status();
}

std::string next_store_name() {
  static std::atomic<int> next{0};
  return fmt::format("world {}", next.fetch_add(1));
}

Status run_rank(const WorldOptions& world, const Fabric& fabric, int rank, int site, int size,
                const std::function<void(WorldRank&)>& body) {
  Options options = world.options;
  options.site = fmt::format("site{}", site);
  if (!fabric.secret.empty()) options.secret = fabric.secret;
  if (world.edit) world.edit(rank, options);
  RuntimeSeams seams;
  ISTHMUS_ASSIGN_OR_RETURN(seams.transport, make_loopback_transport(fabric.lanes));
  std::shared_ptr<ShapedControl> line;
  if (world.shape) {
    ISTHMUS_ASSIGN_OR_RETURN(line, ShapedControl::create(*world.shape));
    ISTHMUS_ASSIGN_OR_RETURN(seams.transport,
                             make_shaped_transport(std::move(seams.transport), line, SteadyClock::instance(),
                                                   world.seed * 1000 + static_cast<std::uint64_t>(rank)));
  }
  seams.control = fabric.control;
  ISTHMUS_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::create(options, std::move(seams)));
  const auto store = MemoryStore::named(fabric.store_name);
  ISTHMUS_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator,
                           Communicator::create(runtime.get(), *store, rank, size, CommunicatorOptions()));
  WorldRank self{rank, runtime.get(), communicator.get(), line.get()};
  body(self);
  return Status();
}

}  // namespace

WorldOptions world_of_small_steps(const std::vector<int>& ranks_per_site, bool interleave) {
  WorldOptions world;
  world.ranks_per_site = ranks_per_site;
  world.interleave = interleave;
  world.options.chunk_bytes = 64 * 1024;
  world.options.segment_bytes = 16 * 1024;
  Shape shape;
  shape.out.delay = std::chrono::microseconds(300);
  shape.out.jitter = std::chrono::microseconds(500);
  world.shape = shape;
  return world;
}

std::vector<int> world_sites(const WorldOptions& options) {
  std::vector<int> sites;
  if (!options.interleave) {
    for (std::size_t s = 0; s < options.ranks_per_site.size(); ++s)
      sites.insert(sites.end(), static_cast<std::size_t>(options.ranks_per_site[s]), static_cast<int>(s));
    return sites;
  }
  std::vector<int> left = options.ranks_per_site;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t s = 0; s < left.size(); ++s) {
      if (left[s] == 0) continue;
      --left[s];
      sites.push_back(static_cast<int>(s));
      any = true;
    }
  }
  return sites;
}

void run_world(const WorldOptions& options, const std::function<void(WorldRank&)>& body) {
  const std::vector<int> sites = world_sites(options);
  Fabric fabric;
  fabric.store_name = next_store_name();
  const Status secured = secure(options.options, &fabric);
  ASSERT_TRUE(secured.ok()) << secured.to_string();
  std::vector<Status> outcomes(sites.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < static_cast<int>(sites.size()); ++rank) {
    threads.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      outcomes[index] = run_rank(options, fabric, rank, sites[index], static_cast<int>(sites.size()), body);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    EXPECT_TRUE(outcomes[rank].ok()) << "rank " << rank << ": " << outcomes[rank].to_string();
}

Status wait_for(const Communicator::WorkResult& work) {
  if (!work.ok()) return work.status();
  return (*work)->wait(std::chrono::seconds(120));
}

}  // namespace isthmus
