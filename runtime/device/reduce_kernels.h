// The kernels behind reduce(), by family of types. Internal to runtime/device.
//
// Threads: any thread, on disjoint targets, in the default rounding state. `op` is not kAvg; at least one source.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/device/reduce.h"

namespace isthmus {

void reduce_floats(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t count);  // fp32, fp64
void reduce_halves(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                   std::size_t first, std::size_t count);  // fp16, bf16; the elements from `first` to before `count`
void reduce_integers(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                     std::size_t count);  // integers, bool
void multiply_complex(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources,
                      std::size_t count);  // complex64, complex128; all but products are made of their parts

}  // namespace isthmus
