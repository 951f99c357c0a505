#include "collectives/schedule/allreduce_algorithm.h"

#include <array>

#include <fmt/ranges.h>

namespace isthmus {
namespace {

constexpr std::array<std::string_view, kAllreduceAlgorithmCount> kNames = {"exchange", "direct", "ring", "tree"};

}  // namespace

std::string_view allreduce_algorithm_name(AllreduceAlgorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

bool is_in_site_order(AllreduceAlgorithm algorithm) {
  return algorithm == AllreduceAlgorithm::kExchange || algorithm == AllreduceAlgorithm::kDirect;
}

Result<std::optional<AllreduceAlgorithm>> parse_allreduce_algorithm(std::string_view option) {
  if (option == "auto") return std::optional<AllreduceAlgorithm>();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == option) return std::optional(static_cast<AllreduceAlgorithm>(i));
  }
  return invalid_argument("algorithm \"{}\" is not known; known are auto, {}", option, fmt::join(kNames, ", "));
}

}  // namespace isthmus
