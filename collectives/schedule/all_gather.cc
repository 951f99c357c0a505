#include "collectives/schedule/all_gather.h"

#include <algorithm>
#include <vector>

#include "collectives/schedule/builder.h"
#include "collectives/schedule/chunks.h"

namespace isthmus {
namespace {

class AllGather {
 public:
  AllGather(const SiteMap& sites, const AllGatherRequest& request)
      : sites_(sites),
        request_(request),
        site_(sites.site_of(request.rank)),
        chunks_(chunk_count(request.bytes_per_rank, max_chunk_bytes())),
        builder_(DataType::kUInt8, ReduceOp::kSum) {}

  Schedule build() {
    if (chunks_ == 0) return builder_.take();
    reserve();
    for (std::size_t index = 0; index < chunks_; ++index) {
      send_own(index);
      for (int source = 0; source < sites_.size(); ++source) {
        if (source != request_.rank) take_from(source, index);
      }
    }
    // In place this writes the bytes that are there, which the sends may still be reading.
    builder_.copy(output_of(request_.rank, 0), {Space::kInput, 0}, request_.bytes_per_rank, own_sends_);
    return builder_.take();
  }

 private:
  // All ranks' chunks together have distinct numbers within kMaxChunks.
  std::size_t max_chunk_bytes() const {
    const std::size_t fewest = kMaxChunks / static_cast<std::size_t>(sites_.size());
    return chunk_elements(request_.bytes_per_rank, 1, std::max(request_.chunk_bytes, request_.bytes_per_rank / fewest));
  }

  void reserve() {
    const auto ranks = static_cast<std::size_t>(sites_.size()),
               mates = static_cast<std::size_t>(sites_.local_size(site_));
    std::size_t relayed = 0;
    for (int source = 0; source < sites_.size(); ++source) relayed += relay_of(site_, source) == request_.rank ? 1 : 0;
    const std::size_t own = static_cast<std::size_t>(sites_.site_count()) + mates;
    own_sends_.reserve(chunks_ * own);
    builder_.reserve(chunks_ * (ranks + own + relayed * mates) + 1, 1, chunks_ * (own + relayed * mates));
  }

  void send_own(std::size_t index) {
    const Range range = range_of(index);
    const Region own{Space::kInput, range.begin};
    for (int k = 1; k < sites_.site_count(); ++k) {
      const int relay = relay_of((site_ + k) % sites_.site_count(), request_.rank);
      own_sends_.push_back(builder_.send(relay, round(request_.rank, index, Phase::kFinal), own, range.size, {}));
    }
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate == request_.rank) continue;
      own_sends_.push_back(builder_.send(mate, round(request_.rank, index, Phase::kFromHandler), own, range.size, {}));
    }
  }

  void take_from(int source, std::size_t index) {
    const int relay = relay_of(site_, source);
    const bool over_wan = relay == request_.rank;
    const Region target = output_of(source, range_of(index).begin);
    const StepIndex received = builder_.receive(over_wan ? source : relay,
                                                round(source, index, over_wan ? Phase::kFinal : Phase::kFromHandler),
                                                target, range_of(index).size, {});
    if (!over_wan) return;
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate == request_.rank) continue;
      builder_.send(mate, round(source, index, Phase::kFromHandler), target, range_of(index).size, After(received));
    }
  }

  // Who in `site` has the block of `source` first.
  int relay_of(int site, int source) const {
    return site == sites_.site_of(source) ? source : sites_.handler(site, sites_.local_rank_of(source));
  }
  Range range_of(std::size_t index) const { return split_evenly({0, request_.bytes_per_rank}, chunks_, index); }
  Region output_of(int source, std::size_t begin) const {
    return {Space::kOutput, static_cast<std::size_t>(source) * request_.bytes_per_rank + begin};
  }
  std::uint32_t round(int source, std::size_t index, Phase phase) const {
    return round_of(static_cast<std::uint32_t>(static_cast<std::size_t>(source) * chunks_ + index), phase);
  }

  const SiteMap& sites_;
  const AllGatherRequest& request_;
  const int site_;
  const std::size_t chunks_;  // of one block
  ScheduleBuilder builder_;
  std::vector<StepIndex> own_sends_;
};

}  // namespace

Schedule build_all_gather(const SiteMap& sites, const AllGatherRequest& request) {
  return AllGather(sites, request).build();
}

}  // namespace isthmus
