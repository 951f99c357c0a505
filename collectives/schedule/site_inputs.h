// How the inputs of a site meet at the rank that handles a chunk.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/schedule/builder.h"
#include "collectives/site_map.h"

namespace isthmus {

// The inputs of a site to one chunk at the rank that handles it: operands in ascending local rank, the own one in
// place, those of the mates received into scratch.
struct SiteInputs {
  std::vector<ReduceOperand> operands;
  std::vector<StepIndex> received;

  // Replaces the contents.
  void collect(ScheduleBuilder& builder, const SiteMap& sites, int rank, std::uint32_t round, Region own,
               std::size_t bytes, std::int8_t exponent);
};

}  // namespace isthmus
