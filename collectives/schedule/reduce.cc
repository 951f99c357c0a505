#include "collectives/schedule/reduce.h"

#include <vector>

#include "collectives/schedule/average_scale.h"
#include "collectives/schedule/builder.h"
#include "collectives/schedule/chunks.h"
#include "collectives/schedule/site_inputs.h"

namespace isthmus {
namespace {

class Reduce {
 public:
  Reduce(const SiteMap& sites, const ReduceRequest& request)
      : sites_(sites),
        request_(request),
        rank_(request.rank),
        site_(sites.site_of(request.rank)),
        element_bytes_(dtype_size_bytes(request.type)),
        scale_(request.type, request.op, sites),
        builder_(request.type, request.op) {}

  Schedule build() {
    for (const Chunk& chunk : cut()) add_chunk(chunk);
    return builder_.take();
  }

 private:
  std::vector<Chunk> cut() const {
    const int root_site = sites_.site_of(request_.root);
    std::vector<std::uint32_t> weights(static_cast<std::size_t>(sites_.site_count()), 1);
    if (request_.algorithm == ReduceAlgorithm::kToRoot) {
      weights.assign(weights.size(), 0);
      weights[static_cast<std::size_t>(root_site)] = 1;
    }
    return cut_chunks(request_.count, static_cast<std::size_t>(sites_.max_local_size()), weights,
                      chunk_elements(request_.count, element_bytes_, request_.chunk_bytes),
                      static_cast<std::size_t>(site_) + 1);
  }

  void add_chunk(const Chunk& chunk) {
    const int handler = sites_.handler(site_, chunk.shard), finisher = sites_.handler(chunk.owner, chunk.shard);
    StepIndex input_is_read = kNoStep;
    if (rank_ != handler) {
      input_is_read =
          builder_.send(handler, round_of(chunk.number, Phase::kToHandler), input_of(chunk), bytes(chunk), {});
    } else if (rank_ != finisher) {
      input_is_read = send_partial(chunk, finisher);
    } else {
      finish(chunk);
    }
    // In place the result goes where the input was.
    if (rank_ == request_.root && rank_ != finisher)
      builder_.receive(finisher, result_round(chunk), output_of(chunk), bytes(chunk), After(input_is_read));
  }

  // The partial of this site, and in ready_ the step that makes it: in scratch, over the first mate's piece, since the
  // input may not be written and only the root has an output.
  ReduceOperand make_partial(const Chunk& chunk) {
    ready_ = kNoStep;
    const std::int8_t exponent = scale_.partial_in_total(site_);
    if (sites_.local_size(site_) == 1) return {.region = input_of(chunk), .exponent = exponent};
    collect(chunk, scale_.input_in_site(site_));
    const bool own_is_first = inputs_.operands.front().region.space == Space::kInput;
    const Region target = inputs_.operands[own_is_first ? 1 : 0].region;
    ready_ = builder_.reduce(target, {}, inputs_.operands, chunk.range.size, inputs_.received);
    return {.region = target, .exponent = exponent};
  }

  // Returns the last step that reads the input.
  StepIndex send_partial(const Chunk& chunk, int finisher) {
    const ReduceOperand partial = make_partial(chunk);
    const StepIndex sent =
        builder_.send(finisher, round_of(chunk.number, Phase::kPartial), partial.region, bytes(chunk), After(ready_));
    return ready_ != kNoStep ? ready_ : sent;
  }

  void finish(const Chunk& chunk) {
    std::vector<ReduceOperand> operands;
    std::vector<StepIndex> after;
    if (sites_.site_count() == 1) {
      collect(chunk, scale_.input_in_total());
      operands = inputs_.operands;
      after = inputs_.received;
    } else {
      gather_partials(chunk, &operands, &after);
    }
    const bool is_root = rank_ == request_.root;
    const Region target = is_root ? output_of(chunk) : builder_.allocate_scratch(bytes(chunk));
    const StepIndex done = builder_.reduce(target, scale_.finish(), operands, chunk.range.size, after);
    if (!is_root) builder_.send(request_.root, result_round(chunk), target, bytes(chunk), After(done));
  }

  void gather_partials(const Chunk& chunk, std::vector<ReduceOperand>* operands, std::vector<StepIndex>* after) {
    const ReduceOperand own = make_partial(chunk);
    after->push_back(ready_);
    for (int site = 0; site < sites_.site_count(); ++site) {
      if (site == site_) {
        operands->push_back(own);
        continue;
      }
      const Region region = builder_.allocate_scratch(bytes(chunk));
      after->push_back(builder_.receive(sites_.handler(site, chunk.shard), round_of(chunk.number, Phase::kPartial),
                                        region, bytes(chunk), {}));
      operands->push_back({.region = region, .exponent = scale_.partial_in_total(site)});
    }
  }

  void collect(const Chunk& chunk, std::int8_t exponent) {
    inputs_.collect(builder_, sites_, rank_, round_of(chunk.number, Phase::kToHandler), input_of(chunk), bytes(chunk),
                    exponent);
  }

  std::uint32_t result_round(const Chunk& chunk) const {
    return round_of(chunk.number, chunk.owner == sites_.site_of(request_.root) ? Phase::kFromHandler : Phase::kFinal);
  }
  std::size_t bytes(const Chunk& chunk) const { return chunk.range.size * element_bytes_; }
  Region input_of(const Chunk& chunk) const { return {Space::kInput, chunk.range.begin * element_bytes_}; }
  Region output_of(const Chunk& chunk) const { return {Space::kOutput, chunk.range.begin * element_bytes_}; }

  const SiteMap& sites_;
  const ReduceRequest& request_;
  const int rank_;
  const int site_;
  const std::size_t element_bytes_;
  const AverageScale scale_;
  ScheduleBuilder builder_;
  SiteInputs inputs_;  // of the chunk at hand, as is:
  StepIndex ready_ = kNoStep;
};

}  // namespace

ReduceAlgorithm choose_reduce_algorithm(int site_count, std::size_t bytes, std::size_t chunk_bytes) {
  return site_count <= 2 || bytes <= chunk_bytes ? ReduceAlgorithm::kToRoot : ReduceAlgorithm::kOwners;
}

Schedule build_reduce(const SiteMap& sites, const ReduceRequest& request) { return Reduce(sites, request).build(); }

}  // namespace isthmus
