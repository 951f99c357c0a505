// What every operation asks of its tensors before it starts. Each check throws ValueError or NotImplementedError, which
// names the operation; nothing was sent then.
//
// Threads: any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isthmus::torch_binding {

// A CPU tensor with strides.
void check_tensor(const at::Tensor& tensor, const char* operation);

// The only one of `tensors`.
const at::Tensor& check_one(const std::vector<at::Tensor>& tensors, const char* operation);

// The only list of `lists`: one tensor per rank, of the type of `part`, with its size at `rank`.
const std::vector<at::Tensor>& check_list(const std::vector<std::vector<at::Tensor>>& lists, const at::Tensor& part,
                                          int rank, int size, const char* operation);

// Every tensor of `list` has as many elements as `part`.
void check_even(const std::vector<at::Tensor>& list, const at::Tensor& part, const char* operation);

// No list, or one without tensors: what ranks other than the root pass.
void check_no_list(const std::vector<std::vector<at::Tensor>>& lists, const char* operation);

void check_same_type(const at::Tensor& output, const at::Tensor& input, const char* operation);

// As many wholes as parts, each whole with room for one part per rank.
void check_pairs(const std::vector<at::Tensor>& wholes, const std::vector<at::Tensor>& parts, int size,
                 const char* operation);

std::uint32_t check_tag(int tag, const char* operation);

std::size_t count_of(const at::Tensor& tensor);
std::vector<std::size_t> counts_of(const std::vector<at::Tensor>& tensors);
bool all_equal(const std::vector<std::size_t>& counts);

// Elements for each rank when `tensor` is cut along its first dimension into `splits` rows each; evenly if that is
// empty.
std::vector<std::size_t> split_counts(const at::Tensor& tensor, const std::vector<std::int64_t>& splits, int size,
                                      const char* operation);

}  // namespace isthmus::torch_binding
