// Contiguous memory for the tensors of one operation: the tensor's own where it is contiguous, else a copy, which is
// written back when the operation has ended. Keeps all of it alive until then.
//
// Threads: one thread at a time (the caller until the operation starts, then the completion thread).
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace isthmus::torch_binding {

class Staging {
 public:
  // For reading only.
  at::Tensor read(const at::Tensor& tensor);
  // For writing; what it held before is lost.
  at::Tensor write(const at::Tensor& tensor);
  // For both.
  at::Tensor update(const at::Tensor& tensor);

  // One flat tensor with the elements of all, which are of one type.
  at::Tensor read_list(const std::vector<at::Tensor>& tensors);
  at::Tensor write_list(const std::vector<at::Tensor>& tensors);

  // Copy of `tensor` that nothing else refers to.
  at::Tensor copy(const at::Tensor& tensor);

  // Brings what was written into the tensors of the caller, and lets all memory go.
  void finish();

 private:
  at::Tensor keep(at::Tensor tensor);

  std::vector<at::Tensor> kept_;
  std::vector<std::pair<at::Tensor, at::Tensor>> copies_;  // from, to
};

// Whether the two contiguous tensors share bytes.
bool memory_overlaps(const at::Tensor& a, const at::Tensor& b);

}  // namespace isthmus::torch_binding
