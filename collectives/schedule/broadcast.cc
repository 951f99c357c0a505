#include "collectives/schedule/broadcast.h"

#include "collectives/schedule/builder.h"
#include "collectives/schedule/chunks.h"

namespace isthmus {
namespace {

// The rank of a site that the root sends to: its counterpart, so that the links of an allreduce are used.
int relay_of(const SiteMap& sites, int site, int root) {
  return site == sites.site_of(root) ? root : sites.handler(site, sites.local_rank_of(root));
}

}  // namespace

Schedule build_broadcast(const SiteMap& sites, const BroadcastRequest& request) {
  const int rank = request.rank, root = request.root;
  const int site = sites.site_of(rank), relay = relay_of(sites, site, root);
  const std::size_t chunks = chunk_count(request.bytes, chunk_elements(request.bytes, 1, request.chunk_bytes));

  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  const auto peers = static_cast<std::size_t>(sites.site_count() + sites.local_size(site));
  builder.reserve(chunks * peers, 0, chunks * peers);
  for (std::size_t index = 0; index < chunks; ++index) {
    const Range range = split_evenly({0, request.bytes}, chunks, index);
    const Region region{Space::kOutput, range.begin};
    const std::uint32_t over_wan = round_of(static_cast<std::uint32_t>(index), Phase::kFinal);
    const std::uint32_t in_site = round_of(static_cast<std::uint32_t>(index), Phase::kFromHandler);

    if (rank != relay) {
      builder.receive(relay, in_site, region, range.size, {});
      continue;
    }
    StepIndex ready = kNoStep;
    if (rank == root) {
      for (int k = 1; k < sites.site_count(); ++k) {
        const int other = (site + k) % sites.site_count();
        builder.send(relay_of(sites, other, root), over_wan, region, range.size, {});
      }
    } else {
      ready = builder.receive(root, over_wan, region, range.size, {});
    }
    for (const int mate : sites.ranks_of(site)) {
      if (mate != rank) builder.send(mate, in_site, region, range.size, After(ready));
    }
  }
  return builder.take();
}

}  // namespace isthmus
