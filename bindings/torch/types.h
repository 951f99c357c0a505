// Element types and reduction operators of torch as those of the C API. What Isthmus does not know is refused here,
// before anything is sent.
//
// Threads: any thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <isthmus/isthmus.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace isthmus::torch_binding {

// Throws NotImplementedError, naming `operation` and the type.
isthmus_dtype to_isthmus_dtype(at::ScalarType type, const char* operation);

// How a call reduces its tensors.
class Reduction {
 public:
  // Throws NotImplementedError, naming `operation`, the operator and the type, for pairs that mean nothing or that
  // Isthmus does not have; ValueError for PREMUL_SUM without its factor.
  Reduction(const c10d::ReduceOp& op, at::ScalarType type, const char* operation);

  isthmus_op op() const { return op_; }
  isthmus_dtype dtype() const { return dtype_; }
  // `options` with the factor of PREMUL_SUM; they refer to this object.
  isthmus_call_options set(isthmus_call_options options) const;

 private:
  isthmus_dtype dtype_;
  isthmus_op op_;
  double factor_ = 1.0;  // PREMUL_SUM
};

}  // namespace isthmus::torch_binding
