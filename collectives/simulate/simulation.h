// Simulation: runs the schedules of all ranks on a network that is only computed, without their data.
//
// Each step starts when those before it are done, as in the engine. A send takes its link of a SimulatedWan, or, within
// a site, the memory between mates; it is done when its last byte has left, since a link copies what it sends. A
// receive is done when it was started and its message is there. Reductions and copies take the rank's processor, one at
// a time.
//
// Threads: one thread at a time. Memory: about 30 bytes per step, 4 per dependency and 12 per receive, of all ranks at
// once; each schedule itself lives only while it is read in. One course: the same result in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/plan/network.h"
#include "collectives/site_map.h"
#include "runtime/base/status.h"
#include "runtime/engine/schedule.h"

namespace isthmus {

struct SimulationResult {
  double seconds = 0;                        // until the last rank is done
  std::vector<std::int64_t> wan_bytes_sent;  // by site, with our headers
  std::uint64_t wan_messages = 0;
  std::uint64_t steps = 0, events = 0;
};

// The sites of `sites` are those of `network`, in order. unsupported: more steps than kMaxSimulatedSteps; internal: the
// schedules never end.
inline constexpr std::size_t kMaxSimulatedSteps = 48'000'000;
Result<SimulationResult> simulate_schedules(const Network& network, const SiteMap& sites,
                                            const std::function<Schedule(int rank)>& build);

}  // namespace isthmus
