#include "collectives/schedule/premultiply.h"

#include <algorithm>

namespace isthmus {
namespace {

constexpr std::size_t kScratchAlignmentBytes = 64;

struct Interval {
  std::size_t begin = 0, end = 0;
};

class Premultiply {
 public:
  Premultiply(const Schedule& sum, Products products) : sum_(sum), products_(products) {}

  Schedule run() {
    find_cuts();
    result_.type = sum_.type;
    result_.op = sum_.op;
    place_products();
    for (const Step& step : sum_.steps) add(step);
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kUnmade = 0xffff'ffffu;

  template <typename Use>
  void for_each_read(const Step& step, Use use) const {
    if (step.kind == StepKind::kSend && step.region.space == Space::kInput)
      use(Interval{step.region.offset_bytes, step.region.offset_bytes + step.bytes});
    const std::size_t bytes = step.kind == StepKind::kCopy ? step.bytes : step.count * dtype_size_bytes(sum_.type);
    for (const ReduceOperand& operand : sum_.operands_of(step)) {
      if (operand.region.space == Space::kInput)
        use(Interval{operand.region.offset_bytes, operand.region.offset_bytes + bytes});
    }
  }

  // Between two neighbouring cuts no read begins or ends.
  void find_cuts() {
    for (const Step& step : sum_.steps) {
      for_each_read(step, [this](const Interval& read) {
        if (read.begin == read.end) return;
        cuts_.push_back(read.begin);
        cuts_.push_back(read.end);
      });
    }
    std::ranges::sort(cuts_);
    const auto repeated = std::ranges::unique(cuts_);
    cuts_.erase(repeated.begin(), repeated.end());
    scaled_by_.assign(cuts_.size(), kUnmade);
  }

  void place_products() {
    result_.scratch_bytes = sum_.scratch_bytes;
    if (products_ == Products::kInOutput || cuts_.empty()) return;
    first_byte_ = cuts_.front();
    scratch_begin_ =
        (sum_.scratch_bytes + kScratchAlignmentBytes - 1) / kScratchAlignmentBytes * kScratchAlignmentBytes;
    result_.scratch_bytes = scratch_begin_ + cuts_.back() - first_byte_;
  }

  Region product_of(const Region& region) const {
    if (region.space != Space::kInput) return region;
    if (products_ == Products::kInOutput) return {Space::kOutput, region.offset_bytes};
    return {Space::kScratch, scratch_begin_ + region.offset_bytes - first_byte_};
  }

  // The step that scales the piece which begins at a cut.
  std::uint32_t scale(std::size_t cut) {
    std::uint32_t& made = scaled_by_[cut];
    if (made != kUnmade) return made;
    const Region from{Space::kInput, cuts_[cut]};
    made = static_cast<std::uint32_t>(result_.steps.size());
    Step step{.kind = StepKind::kScale, .region = product_of(from)};
    step.count = (cuts_[cut + 1] - cuts_[cut]) / dtype_size_bytes(sum_.type);
    step.first_operand = static_cast<std::uint32_t>(result_.operands.size());
    step.operand_count = 1;
    step.first_dependency = static_cast<std::uint32_t>(result_.dependencies.size());
    result_.operands.push_back({.region = from});
    result_.steps.push_back(step);
    return made;
  }

  void add(const Step& old) {
    after_.clear();
    for (const std::uint32_t dependency : sum_.dependencies_of(old)) after_.push_back(moved_to_[dependency]);
    for_each_read(old, [this](const Interval& read) {
      for (auto cut = std::ranges::lower_bound(cuts_, read.begin); cut != cuts_.end() && *cut < read.end; ++cut)
        after_.push_back(scale(static_cast<std::size_t>(cut - cuts_.begin())));
    });
    Step step = old;
    if (step.kind == StepKind::kSend) step.region = product_of(step.region);
    step.first_operand = static_cast<std::uint32_t>(result_.operands.size());
    for (ReduceOperand operand : sum_.operands_of(old)) {
      operand.region = product_of(operand.region);
      result_.operands.push_back(operand);
    }
    step.first_dependency = static_cast<std::uint32_t>(result_.dependencies.size());
    step.dependency_count = static_cast<std::uint32_t>(after_.size());
    result_.dependencies.insert(result_.dependencies.end(), after_.begin(), after_.end());
    moved_to_.push_back(static_cast<std::uint32_t>(result_.steps.size()));
    result_.steps.push_back(step);
  }

  const Schedule& sum_;
  const Products products_;
  Schedule result_;
  std::vector<std::size_t> cuts_;
  std::vector<std::uint32_t> scaled_by_;  // per cut
  std::vector<std::uint32_t> moved_to_;   // per step of the sum
  std::vector<std::uint32_t> after_;      // of the step at hand
  std::size_t scratch_begin_ = 0, first_byte_ = 0;
};

}  // namespace

Schedule premultiply(const Schedule& sum, Products products) { return Premultiply(sum, products).run(); }

}  // namespace isthmus
