#include "collectives/schedule/allreduce.h"

#include <algorithm>
#include <array>
#include <span>

#include "collectives/schedule/average_scale.h"
#include "collectives/schedule/builder.h"
#include "collectives/schedule/chunks.h"
#include "collectives/schedule/double_tree.h"
#include "collectives/schedule/site_inputs.h"

namespace isthmus {
namespace {

constexpr std::size_t kWideBytes = sizeof(float);
// Steps of a site that handles a chunk without meeting all others: the ring's are receive, add, send; receive and
// forward the result; a node of a tree receives and forwards two at most.
constexpr std::size_t kMaxRingSteps = 5, kMaxTreeSteps = 7;
constexpr std::size_t kMaxOperands = 3;

// What a site contributes to a chunk, at the rank that handles it there.
struct Partial {
  ReduceOperand operand;
  StepIndex ready = kNoStep;
};

class Allreduce {
 public:
  Allreduce(const SiteMap& sites, const AllreduceRequest& request)
      : sites_(sites),
        request_(request),
        site_(sites.site_of(request.rank)),
        site_count_(sites.site_count()),
        element_bytes_(dtype_size_bytes(request.type)),
        scale_(request.type, request.op, sites),
        builder_(request.type, request.op) {
    for (int place = 0; place < site_count_; ++place) {
      const auto index = static_cast<std::size_t>(place);
      order_.push_back(request.site_order.empty() ? place : request.site_order[index]);
    }
    place_.resize(order_.size());
    for (int place = 0; place < site_count_; ++place) place_[static_cast<std::size_t>(site_at(place))] = place;
  }

  Schedule build() {
    const std::vector<Chunk> chunks = cut();
    reserve(chunks);
    for (const Chunk& chunk : chunks) add_chunk(chunk);
    return builder_.take();
  }

 private:
  // Exchange has no owners: whole shards are cut. What has two owners in a tree are its two trees.
  std::vector<Chunk> cut() const {
    std::vector<std::uint32_t> weights = request_.owner_weights;
    if (request_.algorithm == AllreduceAlgorithm::kExchange) {
      weights = {1};
    } else if (request_.algorithm == AllreduceAlgorithm::kTree) {
      weights.assign(kTreeCount, 1);
    } else if (weights.empty()) {
      weights.assign(static_cast<std::size_t>(site_count_), 1);
    }
    return cut_chunks(request_.count, static_cast<std::size_t>(sites_.max_local_size()), weights,
                      chunk_elements(request_.count, element_bytes_, request_.chunk_bytes),
                      static_cast<std::size_t>(site_) + 1);
  }

  // Upper bounds, so that each vector of the schedule is allocated once.
  void reserve(const std::vector<Chunk>& chunks) {
    std::size_t handled = 0, wan_steps = 0, wan_operands = 0;
    const auto others = static_cast<std::size_t>(site_count_ - 1);
    for (const Chunk& chunk : chunks) {
      if (handler(site_, chunk) != request_.rank) continue;
      ++handled;
      const bool is_owner = request_.algorithm == AllreduceAlgorithm::kExchange || chunk.owner == site_;
      const bool is_tree = request_.algorithm == AllreduceAlgorithm::kTree;
      const bool meets_all = is_owner && !is_tree && request_.algorithm != AllreduceAlgorithm::kRing;
      wan_steps += meets_all ? 2 * others + 1 : is_tree ? kMaxTreeSteps : kMaxRingSteps;
      wan_operands += meets_all ? others + 1 : is_tree ? kMaxOperands : 2;
    }
    const auto mates = static_cast<std::size_t>(sites_.local_size(site_));
    const std::size_t steps = 2 * (chunks.size() - handled) + 2 * mates * handled + wan_steps;
    builder_.reserve(steps, mates * handled + wan_operands, 2 * steps);
  }

  void add_chunk(const Chunk& chunk) {
    const int at = handler(site_, chunk);
    if (at != request_.rank) {
      const StepIndex sent =
          builder_.send(at, round_of(chunk.number, Phase::kToHandler), input_of(chunk), bytes_of(chunk), {});
      // The output may be the memory that is being sent.
      builder_.receive(at, round_of(chunk.number, Phase::kFromHandler), output_of(chunk), bytes_of(chunk), After(sent));
      return;
    }
    const StepIndex finished = site_count_ == 1 ? reduce_in_one_site(chunk) : cross_wan(chunk);
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate == request_.rank) continue;
      builder_.send(mate, round_of(chunk.number, Phase::kFromHandler), output_of(chunk), bytes_of(chunk),
                    After(finished));
    }
  }

  StepIndex reduce_in_one_site(const Chunk& chunk) {
    collect(chunk, scale_.input_in_total());
    return builder_.reduce(output_of(chunk), scale_.finish(), inputs_.operands, chunk.range.size, inputs_.received);
  }

  StepIndex cross_wan(const Chunk& chunk) {
    switch (request_.algorithm) {
      case AllreduceAlgorithm::kExchange: return exchange(chunk);
      case AllreduceAlgorithm::kDirect: return direct(chunk);
      case AllreduceAlgorithm::kRing: return ring(chunk);
      case AllreduceAlgorithm::kTree: return tree(chunk);
    }
    return kNoStep;
  }

  // The partial of this site, scaled for a final sum by scale_.partial_in_total. It is kept in the output: nobody else
  // touches this chunk of it before the result does, and where the output is the input, the reduction may write over
  // its own operand. A site of one rank has its input as its partial.
  Partial make_partial(const Chunk& chunk) {
    const std::int8_t exponent = scale_.partial_in_total(site_);
    if (sites_.local_size(site_) == 1) return {{.region = input_of(chunk), .exponent = exponent}, kNoStep};
    collect(chunk, scale_.input_in_site(site_));
    const StepIndex reduced =
        builder_.reduce(output_of(chunk), {}, inputs_.operands, chunk.range.size, inputs_.received);
    return {{.region = output_of(chunk), .exponent = exponent}, reduced};
  }

  // Everyone sends its partial to everyone and reduces all of them in site order. The result is written only when the
  // own partial, whose memory it may take, has been sent.
  StepIndex exchange(const Chunk& chunk) {
    const Partial own = make_partial(chunk);
    after_.clear();
    for (int k = 1; k < site_count_; ++k) {
      const int peer = handler((site_ + k) % site_count_, chunk);
      after_.push_back(builder_.send(peer, round_of(chunk.number, Phase::kPartial), own.operand.region, bytes_of(chunk),
                                     After(own.ready)));
    }
    return reduce_all_partials(chunk, own);
  }

  // Partials to the owner, who reduces them in site order and sends the same bytes to all.
  StepIndex direct(const Chunk& chunk) {
    const Partial own = make_partial(chunk);
    if (chunk.owner != site_) {
      const int owner = handler(chunk.owner, chunk);
      const StepIndex sent = builder_.send(owner, round_of(chunk.number, Phase::kPartial), own.operand.region,
                                           bytes_of(chunk), After(own.ready));
      return builder_.receive(owner, round_of(chunk.number, Phase::kFinal), output_of(chunk), bytes_of(chunk),
                              After(sent));
    }
    after_.clear();
    const StepIndex reduced = reduce_all_partials(chunk, own);
    for (int k = 1; k < site_count_; ++k) {
      builder_.send(handler((site_ + k) % site_count_, chunk), round_of(chunk.number, Phase::kFinal), output_of(chunk),
                    bytes_of(chunk), After(reduced));
    }
    return reduced;
  }

  // Receives the partials of the other sites and reduces all, after what `after_` already lists.
  StepIndex reduce_all_partials(const Chunk& chunk, const Partial& own) {
    operands_.clear();
    after_.push_back(own.ready);
    for (int site = 0; site < site_count_; ++site) {
      if (site == site_) {
        operands_.push_back(own.operand);
        continue;
      }
      const Region region = builder_.allocate_scratch(bytes_of(chunk));
      after_.push_back(
          builder_.receive(handler(site, chunk), round_of(chunk.number, Phase::kPartial), region, bytes_of(chunk), {}));
      operands_.push_back({.region = region, .exponent = scale_.partial_in_total(site)});
    }
    return builder_.reduce(output_of(chunk), scale_.finish(), operands_, chunk.range.size, after_);
  }

  // The chunk travels from the site after its owner once around to the owner, each site adding its partial: site k of
  // the way computes (p_0 + p_1 + ... ) + p_k. The owner finishes it and sends it around again. Halves travel as fp32
  // on the first way, but for the input of a site of one rank, which is as exact as it is.
  StepIndex ring(const Chunk& chunk) {
    const int seat = place_of(site_);
    const int place = (seat - place_of(chunk.owner) - 1 + site_count_) % site_count_;
    const int previous = handler(site_at((seat - 1 + site_count_) % site_count_), chunk);
    const int next = handler(site_at((seat + 1) % site_count_), chunk);
    const bool is_owner = place == site_count_ - 1;
    const Partial own = make_exact_partial(chunk);

    Partial sum = own;
    if (place > 0) sum = add_to_ring(chunk, place, previous, own);
    const StepIndex sent =
        builder_.send(next, round_of(chunk.number, is_owner ? Phase::kFinal : Phase::kPartial), sum.operand.region,
                      bytes_of(chunk, is_owner ? false : sum.operand.wide), After(sum.ready));
    if (is_owner) return sum.ready;

    // The result may take the memory of the own partial: at the start of the way that was sent, later it was added.
    const StepIndex received = builder_.receive(previous, round_of(chunk.number, Phase::kFinal), output_of(chunk),
                                                bytes_of(chunk), After(place == 0 ? sent : sum.ready));
    if (place < site_count_ - 2) {
      builder_.send(next, round_of(chunk.number, Phase::kFinal), output_of(chunk), bytes_of(chunk), After(received));
    }
    return received;
  }

  // Scaled for the total at once: fp32 has the range.
  Partial make_exact_partial(const Chunk& chunk) {
    const std::int8_t exponent = scale_.input_in_total();
    if (sites_.local_size(site_) == 1) return {{.region = input_of(chunk), .exponent = exponent}, kNoStep};
    collect(chunk, exponent);
    const bool wide = is_half(request_.type);
    const Region target = wide ? builder_.allocate_scratch(bytes_of(chunk, true)) : output_of(chunk);
    const StepIndex reduced =
        builder_.reduce(target, {.wide = wide}, inputs_.operands, chunk.range.size, inputs_.received);
    return {{.region = target, .wide = wide}, reduced};
  }

  // Receives the sum of the sites before `place` and adds the own partial: into the output at the owner, else where
  // the received one lies (a half that becomes wide needs more room).
  Partial add_to_ring(const Chunk& chunk, int place, int previous, const Partial& own) {
    const int first_site = site_at((place_of(chunk.owner) + 1) % site_count_);
    const bool is_owner = place == site_count_ - 1;
    const bool from_input = place == 1 && sites_.local_size(first_site) == 1;
    const bool is_wide = is_half(request_.type) && !from_input;
    const Region landing = builder_.allocate_scratch(bytes_of(chunk, is_wide));
    const StepIndex received =
        builder_.receive(previous, round_of(chunk.number, Phase::kPartial), landing, bytes_of(chunk, is_wide), {});
    const std::array operands = {ReduceOperand{landing, is_wide, from_input ? scale_.input_in_total() : std::int8_t{0}},
                                 own.operand};
    Finish finish = scale_.finish();
    Region target = output_of(chunk);
    if (!is_owner) {
      finish = {.wide = is_half(request_.type)};
      target = finish.wide == is_wide ? landing : builder_.allocate_scratch(bytes_of(chunk, finish.wide));
    }
    const std::array after = {received, own.ready};
    const StepIndex reduced = builder_.reduce(target, finish, operands, chunk.range.size, after);
    return {{.region = target, .wide = finish.wide}, reduced};
  }

  // A node of the chunk's tree adds what its children sent to its own partial, in the order of the tree, and sends the
  // sum to its parent; the root finishes it, and it goes down the same edges. Halves travel up as fp32, but for the
  // input of a leaf that is a site of one rank.
  StepIndex tree(const Chunk& chunk) {
    const TreeNode node = tree_node(chunk.owner, place_of(site_), site_count_);
    const Partial own = make_exact_partial(chunk);
    const Partial sum = node.is_leaf() ? own : add_children(chunk, node, own);
    StepIndex finished = sum.ready;
    if (node.parent != kNoPlace) {
      const int parent = handler(site_at(node.parent), chunk);
      const StepIndex sent = builder_.send(parent, round_of(chunk.number, Phase::kPartial), sum.operand.region,
                                           bytes_of(chunk, sum.operand.wide), After(sum.ready));
      finished = builder_.receive(parent, round_of(chunk.number, Phase::kFinal), output_of(chunk), bytes_of(chunk),
                                  After(sent));
    }
    for (const int child : {node.left, node.right}) {
      if (child == kNoPlace) continue;
      builder_.send(handler(site_at(child), chunk), round_of(chunk.number, Phase::kFinal), output_of(chunk),
                    bytes_of(chunk), After(finished));
    }
    return finished;
  }

  // The sum lies in the output where it fits, as the own partial does; fp32 sums of halves take the place of one of
  // their operands, or new scratch if none is as long.
  Partial add_children(const Chunk& chunk, const TreeNode& node, const Partial& own) {
    const bool is_root = node.parent == kNoPlace;
    Finish finish = scale_.finish();
    if (!is_root) finish = {.wide = is_half(request_.type)};
    operands_.clear();
    after_.assign(1, own.ready);
    if (node.left != kNoPlace) receive_child(chunk, node.left);
    operands_.push_back(own.operand);
    if (node.right != kNoPlace) receive_child(chunk, node.right);
    Region target = output_of(chunk);
    if (finish.wide) {
      const auto wide = std::ranges::find_if(operands_, &ReduceOperand::wide);
      target = wide != operands_.end() ? wide->region : builder_.allocate_scratch(bytes_of(chunk, true));
    }
    const StepIndex reduced = builder_.reduce(target, finish, operands_, chunk.range.size, after_);
    return {{.region = target, .wide = finish.wide}, reduced};
  }

  void receive_child(const Chunk& chunk, int place) {
    const int site = site_at(place);
    const bool is_input = sites_.local_size(site) == 1 && tree_node(chunk.owner, place, site_count_).is_leaf();
    const bool wide = is_half(request_.type) && !is_input;
    const Region landing = builder_.allocate_scratch(bytes_of(chunk, wide));
    after_.push_back(builder_.receive(handler(site, chunk), round_of(chunk.number, Phase::kPartial), landing,
                                      bytes_of(chunk, wide), {}));
    operands_.push_back({landing, wide, is_input ? scale_.input_in_total() : std::int8_t{0}});
  }

  void collect(const Chunk& chunk, std::int8_t exponent) {
    inputs_.collect(builder_, sites_, request_.rank, round_of(chunk.number, Phase::kToHandler), input_of(chunk),
                    bytes_of(chunk), exponent);
  }

  // Ring and tree: places are where sites stand in the order of neighbours.
  int site_at(int place) const { return order_[static_cast<std::size_t>(place)]; }
  int place_of(int site) const { return place_[static_cast<std::size_t>(site)]; }
  int handler(int site, const Chunk& chunk) const { return sites_.handler(site, chunk.shard); }
  Region input_of(const Chunk& chunk) const { return {Space::kInput, chunk.range.begin * element_bytes_}; }
  Region output_of(const Chunk& chunk) const { return {Space::kOutput, chunk.range.begin * element_bytes_}; }
  std::size_t bytes_of(const Chunk& chunk, bool wide = false) const {
    return chunk.range.size * (wide ? kWideBytes : element_bytes_);
  }

  const SiteMap& sites_;
  const AllreduceRequest& request_;
  const int site_, site_count_;
  const std::size_t element_bytes_;
  const AverageScale scale_;
  std::vector<int> order_, place_;
  ScheduleBuilder builder_;
  SiteInputs inputs_;  // of the chunk at hand, as are:
  std::vector<ReduceOperand> operands_;
  std::vector<StepIndex> after_;
};

}  // namespace

Schedule build_allreduce(const SiteMap& sites, const AllreduceRequest& request) {
  return Allreduce(sites, request).build();
}

}  // namespace isthmus
