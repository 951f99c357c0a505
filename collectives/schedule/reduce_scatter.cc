#include "collectives/schedule/reduce_scatter.h"

#include "collectives/schedule/average_scale.h"
#include "collectives/schedule/blocks.h"
#include "collectives/schedule/builder.h"
#include "collectives/schedule/site_inputs.h"

namespace isthmus {
namespace {

class ReduceScatter {
 public:
  ReduceScatter(const SiteMap& sites, const ReduceScatterRequest& request)
      : sites_(sites),
        request_(request),
        site_(sites.site_of(request.rank)),
        element_bytes_(dtype_size_bytes(request.type)),
        blocks_(request.block_counts, element_bytes_, request.chunk_bytes),
        scale_(request.type, request.op, sites),
        builder_(request.type, request.op) {}

  // The block of the next rank first, so that the ranks do not all send to the same one.
  Schedule build() {
    reserve();
    for (std::size_t index = 0; index < blocks_.max_chunks(); ++index) {
      for (int k = 1; k <= sites_.size(); ++k) {
        const int block = (request_.rank + k) % sites_.size();
        if (index < blocks_.chunks(block)) add_chunk(block, index);
      }
    }
    return builder_.take();
  }

 private:
  void reserve() {
    const auto mates = static_cast<std::size_t>(sites_.local_size(site_)),
               sites = static_cast<std::size_t>(sites_.site_count());
    std::size_t handled = 0;
    for (int block = 0; block < sites_.size(); ++block)
      if (handler_of(site_, block) == request_.rank) handled += blocks_.chunks(block);
    const std::size_t steps =
        blocks_.all_chunks() + handled * (mates + 1) + blocks_.chunks(request_.rank) * (sites + 1);
    builder_.reserve(steps, handled * mates + blocks_.chunks(request_.rank) * sites, steps);
  }

  void add_chunk(int block, std::size_t index) {
    const int at = handler_of(site_, block);
    const std::size_t bytes = elements(block, index) * element_bytes_;
    if (at != request_.rank) {
      builder_.send(at, round(block, index, Phase::kToHandler), input_of(block, index), bytes, {});
    } else if (block != request_.rank) {
      const ReduceOperand partial = make_partial(block, index);
      builder_.send(block, round(block, index, Phase::kPartial), partial.region, bytes, After(ready_));
    } else if (sites_.site_count() == 1) {
      collect(block, index, scale_.input_in_total());
      builder_.reduce(output_of(index), scale_.finish(), inputs_.operands, elements(block, index), inputs_.received);
    } else {
      finish(index);
    }
  }

  // The partial of this site for a block, and in ready_ the step that makes it. It is kept where the first mate's input
  // was received: the input may not be written, and the output belongs to another block.
  ReduceOperand make_partial(int block, std::size_t index) {
    ready_ = kNoStep;
    const std::int8_t exponent = scale_.partial_in_total(site_);
    if (sites_.local_size(site_) == 1) return {.region = input_of(block, index), .exponent = exponent};
    collect(block, index, scale_.input_in_site(site_));
    const bool own_is_first = inputs_.operands.front().region.space == Space::kInput;
    const Region target = inputs_.operands[own_is_first ? 1 : 0].region;
    ready_ = builder_.reduce(target, {}, inputs_.operands, elements(block, index), inputs_.received);
    return {.region = target, .exponent = exponent};
  }

  void finish(std::size_t index) {
    const ReduceOperand own = make_partial(request_.rank, index);
    const std::size_t bytes = elements(request_.rank, index) * element_bytes_;
    std::vector<ReduceOperand> partials;
    std::vector<StepIndex> after = {ready_};
    for (int site = 0; site < sites_.site_count(); ++site) {
      if (site == site_) {
        partials.push_back(own);
        continue;
      }
      const Region region = builder_.allocate_scratch(bytes);
      after.push_back(builder_.receive(handler_of(site, request_.rank), round(request_.rank, index, Phase::kPartial),
                                       region, bytes, {}));
      partials.push_back({.region = region, .exponent = scale_.partial_in_total(site)});
    }
    builder_.reduce(output_of(index), scale_.finish(), partials, elements(request_.rank, index), after);
  }

  void collect(int block, std::size_t index, std::int8_t exponent) {
    inputs_.collect(builder_, sites_, request_.rank, round(block, index, Phase::kToHandler), input_of(block, index),
                    elements(block, index) * element_bytes_, exponent);
  }

  // Who in `site` reduces the inputs to the block: its rank, or that rank's counterpart in another site.
  int handler_of(int site, int block) const {
    return site == sites_.site_of(block) ? block : sites_.handler(site, sites_.local_rank_of(block));
  }
  std::size_t elements(int block, std::size_t index) const { return blocks_.in_block(block, index).size; }
  Region input_of(int block, std::size_t index) const {
    return {Space::kInput, blocks_.in_buffer(block, index).begin * element_bytes_};
  }
  Region output_of(std::size_t index) const {
    return {Space::kOutput, blocks_.in_block(request_.rank, index).begin * element_bytes_};
  }
  std::uint32_t round(int block, std::size_t index, Phase phase) const { return blocks_.round(block, index, phase); }

  const SiteMap& sites_;
  const ReduceScatterRequest& request_;
  const int site_;
  const std::size_t element_bytes_;
  const Blocks blocks_;
  const AverageScale scale_;
  ScheduleBuilder builder_;
  SiteInputs inputs_;  // of the chunk at hand, as is:
  StepIndex ready_ = kNoStep;
};

}  // namespace

Schedule build_reduce_scatter(const SiteMap& sites, const ReduceScatterRequest& request) {
  return ReduceScatter(sites, request).build();
}

}  // namespace isthmus
