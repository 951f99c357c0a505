#include "collectives/schedule/barrier.h"

#include "collectives/schedule/builder.h"

namespace isthmus {
namespace {

constexpr Region kNowhere{Space::kScratch, 0};

}  // namespace

Schedule build_barrier(const SiteMap& sites, int rank) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  const auto& mates = sites.ranks_of(sites.site_of(rank));
  const std::uint32_t to_leader = round_of(0, Phase::kToHandler), between_leaders = round_of(0, Phase::kPartial),
                      from_leader = round_of(0, Phase::kFromHandler);
  if (rank != mates.front()) {
    builder.send(mates.front(), to_leader, kNowhere, 0, {});
    builder.receive(mates.front(), from_leader, kNowhere, 0, {});
    return builder.take();
  }

  std::vector<StepIndex> site_is_here;
  for (const int mate : mates) {
    if (mate != rank) site_is_here.push_back(builder.receive(mate, to_leader, kNowhere, 0, {}));
  }
  std::vector<StepIndex> all_are_here = site_is_here;
  for (int k = 1; k < sites.site_count(); ++k) {
    const int other = sites.ranks_of((sites.site_of(rank) + k) % sites.site_count()).front();
    builder.send(other, between_leaders, kNowhere, 0, site_is_here);
    all_are_here.push_back(builder.receive(other, between_leaders, kNowhere, 0, {}));
  }
  for (const int mate : mates) {
    if (mate != rank) builder.send(mate, from_leader, kNowhere, 0, all_are_here);
  }
  return builder.take();
}

}  // namespace isthmus
