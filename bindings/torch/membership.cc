// Groups made from a group: split, merge, shrink.
#include <algorithm>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "bindings/torch/backend.h"
#include "bindings/torch/connect.h"
#include "bindings/torch/gil.h"

namespace isthmus::torch_binding {
namespace {

// Index of `rank` in `ranks`, -1 if it is not there. Throws unless all are different ranks of the group.
int find_member(const std::vector<int>& ranks, int rank, int size, const char* operation) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  TORCH_CHECK_VALUE(!sorted.empty(), "isthmus: ", operation, ": a group without ranks");
  TORCH_CHECK_VALUE(sorted.front() >= 0 && sorted.back() < size, "isthmus: ", operation, ": ranks must be from 0 to ",
                    size - 1, ", got ", sorted.front(), " and ", sorted.back());
  TORCH_CHECK_VALUE(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "isthmus: ", operation,
                    ": a rank occurs twice");
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

std::vector<int> survivors(const std::vector<int64_t>& excluded, int size) {
  std::vector<int> result;
  for (int rank = 0; rank < size; ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) == excluded.end()) result.push_back(rank);
  }
  return result;
}

}  // namespace

c10::intrusive_ptr<GroupOptions> ProcessGroupIsthmus::child_options(const BackendOptionsPtr& options,
                                                                    const std::vector<int>& ranks) const {
  const auto own = c10::dynamic_intrusive_pointer_cast<GroupOptions>(options);
  auto result = c10::make_intrusive<GroupOptions>(own.defined() ? *own : *options_);
  if (options.defined()) {
    result->timeout = options->timeout;
    result->group_name = options->group_name;
    result->group_desc = options->group_desc;
  }
  result->global_ranks_in_group.clear();
  for (const int rank : ranks) {
    const auto& global = options_->global_ranks_in_group;
    const auto index = static_cast<size_t>(rank);
    result->global_ranks_in_group.push_back(index < global.size() ? global[index] : index);
  }
  return result;
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupIsthmus::split(const StorePtr& store, const std::vector<int>& ranks,
                                                             const BackendOptionsPtr& options) {
  const WithoutGil without_gil;
  const int index = find_member(ranks, getRank(), getSize(), "split");
  const auto child = child_options(options, ranks);
  const int color = index < 0 ? -1 : *std::min_element(ranks.begin(), ranks.end());
  auto communicator = torch_binding::split(*communicator_, color, std::max(index, 0), *child);
  if (communicator == nullptr) return nullptr;
  return c10::make_intrusive<ProcessGroupIsthmus>(std::move(communicator), store, index, static_cast<int>(ranks.size()),
                                                  child);
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupIsthmus::merge(const StorePtr& store, const BackendOptionsPtr& options,
                                                             const int& rank, const int& size) {
  const WithoutGil without_gil;
  return c10::make_intrusive<ProcessGroupIsthmus>(store, rank, size, child_options(options, {}));
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupIsthmus::shrink(const std::vector<int64_t>& ranks_to_exclude,
                                                              int /*flags*/, const BackendOptionsPtr& options) {
  const WithoutGil without_gil;
  const std::vector<int> ranks = survivors(ranks_to_exclude, getSize());
  const int index = find_member(ranks, getRank(), getSize(), "shrink");
  TORCH_CHECK_VALUE(index >= 0, "isthmus: shrink: called by rank ", getRank(), ", which is excluded itself");
  TORCH_CHECK_VALUE(store_.defined(), "isthmus: shrink: this group was made without a store");
  // Ranks that count their calls apart would wait for each other in vain: all of them must make the same ones.
  const std::string prefix = "shrunk/" + std::to_string(++shrink_count_) + "/";
  return c10::make_intrusive<ProcessGroupIsthmus>(c10::make_intrusive<c10d::PrefixStore>(prefix, store_), index,
                                                  static_cast<int>(ranks.size()), child_options(options, ranks));
}

}  // namespace isthmus::torch_binding
