#include "bindings/torch/tensors.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace isthmus::torch_binding {

void check_tensor(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK_VALUE(tensor.defined(), "isthmus: ", operation, ": an undefined tensor");
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.device().is_cpu(), "isthmus: unsupported: ", operation, " of a tensor on ",
                              tensor.device(), "; this build of Isthmus moves CPU tensors only");
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, "isthmus: unsupported: ", operation,
                              " of a tensor with layout ", tensor.layout(), "; Isthmus takes strided tensors");
}

const at::Tensor& check_one(const std::vector<at::Tensor>& tensors, const char* operation) {
  TORCH_CHECK_VALUE(tensors.size() == 1, "isthmus: ", operation, ": takes one tensor per rank, got ", tensors.size());
  check_tensor(tensors.front(), operation);
  return tensors.front();
}

const std::vector<at::Tensor>& check_list(const std::vector<std::vector<at::Tensor>>& lists, const at::Tensor& part,
                                          int rank, int size, const char* operation) {
  TORCH_CHECK_VALUE(lists.size() == 1, "isthmus: ", operation, ": takes one list per rank, got ", lists.size());
  const auto& list = lists.front();
  TORCH_CHECK_VALUE(list.size() == static_cast<size_t>(size), "isthmus: ", operation, ": a list of ", list.size(),
                    " tensors for ", size, " ranks");
  for (const auto& tensor : list) {
    check_tensor(tensor, operation);
    check_same_type(tensor, part, operation);
  }
  const auto& own = list[static_cast<size_t>(rank)];
  TORCH_CHECK_VALUE(own.numel() == part.numel(), "isthmus: ", operation, ": tensor ", rank, " of the list has ",
                    own.numel(), " elements, this rank's own ", part.numel(), "; they must be equal");
  return list;
}

void check_even(const std::vector<at::Tensor>& list, const at::Tensor& part, const char* operation) {
  for (size_t rank = 0; rank < list.size(); ++rank) {
    TORCH_CHECK_VALUE(list[rank].numel() == part.numel(), "isthmus: ", operation, ": tensor ", rank,
                      " of the list has ", list[rank].numel(), " elements, this rank's own ", part.numel(),
                      "; they must be equal, since the other ranks do not know them");
  }
}

void check_no_list(const std::vector<std::vector<at::Tensor>>& lists, const char* operation) {
  TORCH_CHECK_VALUE(lists.empty() || (lists.size() == 1 && lists.front().empty()), "isthmus: ", operation,
                    ": only the root passes a list of tensors");
}

void check_same_type(const at::Tensor& output, const at::Tensor& input, const char* operation) {
  TORCH_CHECK_VALUE(output.scalar_type() == input.scalar_type(), "isthmus: ", operation, ": output of ",
                    output.scalar_type(), ", input of ", input.scalar_type());
}

void check_pairs(const std::vector<at::Tensor>& wholes, const std::vector<at::Tensor>& parts, int size,
                 const char* operation) {
  TORCH_CHECK_VALUE(wholes.size() == parts.size(), "isthmus: ", operation, ": ", wholes.size(), " tensors against ",
                    parts.size());
  for (size_t index = 0; index < wholes.size(); ++index) {
    check_tensor(wholes[index], operation);
    check_tensor(parts[index], operation);
    check_same_type(wholes[index], parts[index], operation);
    TORCH_CHECK_VALUE(wholes[index].numel() == parts[index].numel() * size, "isthmus: ", operation, ": a tensor of ",
                      wholes[index].numel(), " elements against ", size, " ranks with ", parts[index].numel(),
                      " elements each");
  }
}

std::uint32_t check_tag(int tag, const char* operation) {
  TORCH_CHECK_VALUE(tag >= 0, "isthmus: ", operation, ": the tag must not be negative, got ", tag);
  return static_cast<std::uint32_t>(tag);
}

size_t count_of(const at::Tensor& tensor) { return static_cast<size_t>(tensor.numel()); }

std::vector<size_t> counts_of(const std::vector<at::Tensor>& tensors) {
  std::vector<size_t> counts;
  counts.reserve(tensors.size());
  for (const auto& tensor : tensors) counts.push_back(count_of(tensor));
  return counts;
}

bool all_equal(const std::vector<size_t>& counts) {
  return std::all_of(counts.begin(), counts.end(), [&](size_t count) { return count == counts.front(); });
}

std::vector<size_t> split_counts(const at::Tensor& tensor, const std::vector<std::int64_t>& splits, int size,
                                 const char* operation) {
  TORCH_CHECK_VALUE(tensor.dim() > 0, "isthmus: ", operation, ": a tensor without dimensions cannot be split");
  const std::int64_t rows = tensor.size(0);
  if (splits.empty()) {
    TORCH_CHECK_VALUE(rows % size == 0, "isthmus: ", operation, ": ", rows, " rows cannot be split evenly over ", size,
                      " ranks");
    return std::vector<size_t>(static_cast<size_t>(size), count_of(tensor) / static_cast<size_t>(size));
  }
  TORCH_CHECK_VALUE(splits.size() == static_cast<size_t>(size), "isthmus: ", operation, ": ", splits.size(),
                    " split sizes for ", size, " ranks");
  const std::int64_t row_count = rows == 0 ? 0 : tensor.numel() / rows;
  std::vector<size_t> counts;
  std::int64_t total = 0;
  for (const std::int64_t split : splits) {
    TORCH_CHECK_VALUE(split >= 0, "isthmus: ", operation, ": a negative split size: ", split);
    total += split;
    counts.push_back(static_cast<size_t>(split * row_count));
  }
  TORCH_CHECK_VALUE(total == rows, "isthmus: ", operation, ": the split sizes add up to ", total, ", the tensor has ",
                    rows, " rows");
  return counts;
}

}  // namespace isthmus::torch_binding
