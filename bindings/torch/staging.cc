#include "bindings/torch/staging.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cstdint>

namespace isthmus::torch_binding {
namespace {

bool usable_as_is(const at::Tensor& tensor) { return tensor.is_contiguous() && !tensor.is_neg() && !tensor.is_conj(); }

at::Tensor new_contiguous(const at::Tensor& like, int64_t count) {
  return at::empty({count}, like.options().requires_grad(false).memory_format(at::MemoryFormat::Contiguous));
}

int64_t total_count(const std::vector<at::Tensor>& tensors) {
  int64_t total = 0;
  for (const auto& tensor : tensors) total += tensor.numel();
  return total;
}

// Autograd must not see these: buffers of a collective may require gradients, or be inference tensors.
void copy_elements(const at::Tensor& from, const at::Tensor& to) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  to.copy_(from.view(to.sizes()));
}

}  // namespace

at::Tensor Staging::keep(at::Tensor tensor) {
  kept_.push_back(tensor);
  return tensor;
}

at::Tensor Staging::copy(const at::Tensor& tensor) {
  at::Tensor flat = new_contiguous(tensor, tensor.numel());
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  flat.view(tensor.sizes()).copy_(tensor);
  return keep(std::move(flat));
}

at::Tensor Staging::read(const at::Tensor& tensor) { return usable_as_is(tensor) ? keep(tensor) : copy(tensor); }

at::Tensor Staging::write(const at::Tensor& tensor) {
  if (usable_as_is(tensor)) return keep(tensor);
  at::assert_no_internal_overlap(tensor);
  at::Tensor flat = keep(new_contiguous(tensor, tensor.numel()));
  copies_.emplace_back(flat, tensor);
  return flat;
}

at::Tensor Staging::update(const at::Tensor& tensor) {
  if (usable_as_is(tensor)) return keep(tensor);
  at::assert_no_internal_overlap(tensor);
  at::Tensor flat = copy(tensor);
  copies_.emplace_back(flat, tensor);
  return flat;
}

at::Tensor Staging::read_list(const std::vector<at::Tensor>& tensors) {
  at::Tensor flat = keep(new_contiguous(tensors.front(), total_count(tensors)));
  int64_t offset = 0;
  for (const auto& tensor : tensors) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    flat.narrow(0, offset, tensor.numel()).view(tensor.sizes()).copy_(tensor);
    offset += tensor.numel();
  }
  return flat;
}

at::Tensor Staging::write_list(const std::vector<at::Tensor>& tensors) {
  at::Tensor flat = keep(new_contiguous(tensors.front(), total_count(tensors)));
  int64_t offset = 0;
  for (const auto& tensor : tensors) {
    at::assert_no_internal_overlap(tensor);
    copies_.emplace_back(flat.narrow(0, offset, tensor.numel()), tensor);
    offset += tensor.numel();
  }
  return flat;
}

void Staging::finish() {
  for (const auto& [from, to] : copies_) copy_elements(from, to);
  copies_.clear();
  kept_.clear();
}

bool memory_overlaps(const at::Tensor& a, const at::Tensor& b) {
  const auto a_first = reinterpret_cast<std::uintptr_t>(a.const_data_ptr());
  const auto b_first = reinterpret_cast<std::uintptr_t>(b.const_data_ptr());
  return a_first < b_first + b.nbytes() && b_first < a_first + a.nbytes();
}

}  // namespace isthmus::torch_binding
