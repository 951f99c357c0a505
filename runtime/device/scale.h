// The product of PREMUL_SUM on the CPU: to[i] = round(factor * from[i]).
//
// Threads: any thread, on disjoint targets.
//
// The factor is rounded to the type of accumulation first (fp32 for fp16, bf16, fp32 and complex64, else fp64), the
// product is made there, and rounded to nearest even into the element. Of complex numbers both parts are multiplied. A
// NaN is the canonical one. The calling thread's rounding state does not matter, and is kept.
#pragma once

#include <cstddef>

#include "runtime/base/dtype.h"

namespace isthmus {

// `type` reduces with kPremulSum (reducible.h). `to` is `from`, or does not overlap it.
void scale(DataType type, double factor, const void* from, void* to, std::size_t count);

}  // namespace isthmus
