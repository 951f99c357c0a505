// Reduction on the CPU: the scalar definition that every faster kernel must equal byte for byte.
//
// Threads: any thread, on disjoint targets.
//
// target[i] = finish(source_0[i] op source_1[i] op ... ), strictly in the order of the sources. fp16 and bf16 are
// accumulated in fp32 and rounded once, to nearest even, into the target; fp32 in fp32, fp64 in fp64. Integers wrap in
// their own type. A NaN result is the canonical quiet NaN of the type; MIN and MAX give NaN if any operand is NaN, and
// order -0 below +0. bool: SUM and MAX are OR, MIN and PRODUCT are AND, and the byte stored is 0 or 1. Complex numbers
// are reduced in the type of their parts: sums part by part, and the product of a+bi and c+di is (ac-bd) + (ad+bc)i,
// each operation rounded. The calling thread's rounding state does not matter: kernels set the default one (nearest
// even, no flush to zero) and restore it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/dtype.h"

namespace isthmus {

struct ReduceSource {
  const void* data = nullptr;
  bool wide = false;         // fp32 partials of a half type
  std::int8_t exponent = 0;  // half types only: multiplied by 2^exponent when loaded
};

struct ReduceTarget {
  void* data = nullptr;  // may be the data of one source
  bool wide = false;
  std::int8_t exponent = 0;   // half types only: multiplied by 2^exponent (after the division) before rounding
  std::uint32_t divisor = 1;  // divides the result, in the type of accumulation; integers truncate toward zero
};

// `op` passes check_reducible with the type, and is not kAvg, a sum whose last target has a divisor, nor kPremulSum, a
// sum of what scale() made. At least one source.
void reduce(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
            std::size_t count);

}  // namespace isthmus
