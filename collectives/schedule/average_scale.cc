#include "collectives/schedule/average_scale.h"

#include <bit>

namespace isthmus {
namespace {

int exponent_above(int count) { return std::bit_width(static_cast<unsigned>(count) - 1); }  // ceil(log2 count)

}  // namespace

AverageScale::AverageScale(DataType type, ReduceOp op, const SiteMap& sites)
    : sites_(&sites), scales_(op == ReduceOp::kAvg && is_half(type)), total_exponent_(exponent_above(sites.size())) {
  if (op == ReduceOp::kAvg) finish_.divisor = static_cast<std::uint32_t>(sites.size());
  if (scales_) finish_.exponent = static_cast<std::int8_t>(total_exponent_);
}

std::int8_t AverageScale::input_in_site(int site) const {
  return scales_ ? static_cast<std::int8_t>(-exponent_above(sites_->local_size(site))) : std::int8_t{0};
}

std::int8_t AverageScale::partial_in_total(int site) const {
  return static_cast<std::int8_t>(input_in_total() - input_in_site(site));
}

std::int8_t AverageScale::input_in_total() const {
  return scales_ ? static_cast<std::int8_t>(-total_exponent_) : std::int8_t{0};
}

}  // namespace isthmus
