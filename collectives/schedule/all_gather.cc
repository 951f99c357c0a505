#include "collectives/schedule/all_gather.h"

#include "collectives/schedule/blocks.h"
#include "collectives/schedule/builder.h"

namespace isthmus {
namespace {

class AllGather {
 public:
  AllGather(const SiteMap& sites, const AllGatherRequest& request)
      : sites_(sites),
        rank_(request.rank),
        site_(sites.site_of(request.rank)),
        blocks_(request.block_bytes, 1, request.chunk_bytes),
        builder_(DataType::kUInt8, ReduceOp::kSum) {}

  Schedule build() {
    reserve();
    for (std::size_t index = 0; index < blocks_.max_chunks(); ++index) {
      if (index < blocks_.chunks(rank_)) send_own(index);
      for (int source = 0; source < sites_.size(); ++source) {
        if (source != rank_ && index < blocks_.chunks(source)) take_from(source, index);
      }
    }
    // In place this writes the bytes that are there, which the sends may still be reading.
    const Range own = blocks_.block(rank_);
    if (own.size > 0) builder_.copy({Space::kOutput, own.begin}, {Space::kInput, 0}, own.size, own_sends_);
    return builder_.take();
  }

 private:
  void reserve() {
    const std::size_t mates = static_cast<std::size_t>(sites_.local_size(site_)),
                      peers = static_cast<std::size_t>(sites_.site_count()) + mates;
    std::size_t relayed = 0;
    for (int source = 0; source < sites_.size(); ++source)
      if (relay_of(site_, source) == rank_) relayed += blocks_.chunks(source);
    own_sends_.reserve(blocks_.chunks(rank_) * peers);
    const std::size_t sends = blocks_.chunks(rank_) * peers + relayed * mates;
    builder_.reserve(blocks_.all_chunks() + sends + 1, 1, 2 * sends);
  }

  void send_own(std::size_t index) {
    const Range range = blocks_.in_block(rank_, index);
    const Region own{Space::kInput, range.begin};
    for (int k = 1; k < sites_.site_count(); ++k) {
      const int relay = relay_of((site_ + k) % sites_.site_count(), rank_);
      own_sends_.push_back(builder_.send(relay, blocks_.round(rank_, index, Phase::kFinal), own, range.size, {}));
    }
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate == rank_) continue;
      own_sends_.push_back(builder_.send(mate, blocks_.round(rank_, index, Phase::kFromHandler), own, range.size, {}));
    }
  }

  void take_from(int source, std::size_t index) {
    const int relay = relay_of(site_, source);
    const bool over_wan = relay == rank_;
    const Range range = blocks_.in_buffer(source, index);
    const Region target{Space::kOutput, range.begin};
    const std::uint32_t in_site = blocks_.round(source, index, Phase::kFromHandler);
    const StepIndex received =
        builder_.receive(over_wan ? source : relay, over_wan ? blocks_.round(source, index, Phase::kFinal) : in_site,
                         target, range.size, {});
    if (!over_wan) return;
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate != rank_) builder_.send(mate, in_site, target, range.size, After(received));
    }
  }

  // Who in `site` has the block of `source` first.
  int relay_of(int site, int source) const {
    return site == sites_.site_of(source) ? source : sites_.handler(site, sites_.local_rank_of(source));
  }

  const SiteMap& sites_;
  const int rank_;
  const int site_;
  const Blocks blocks_;
  ScheduleBuilder builder_;
  std::vector<StepIndex> own_sends_;
};

}  // namespace

Schedule build_all_gather(const SiteMap& sites, const AllGatherRequest& request) {
  return AllGather(sites, request).build();
}

}  // namespace isthmus
