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

// Throws NotImplementedError, naming `operation`, the operator and the type: operators that Isthmus does not have
// (BAND, PREMUL_SUM, ...) and pairs that mean nothing (AVG of bool).
isthmus_op to_isthmus_op(const c10d::ReduceOp& op, at::ScalarType type, const char* operation);

}  // namespace isthmus::torch_binding
