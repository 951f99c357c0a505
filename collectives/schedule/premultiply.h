// PREMUL_SUM: every rank multiplies its input by a factor of its own, and the products are summed. The schedule is that
// of the sum, with steps that scale the input before it is sent or reduced.
//
// Threads: pure functions, any thread. Cost: n log n in the steps.
//
// Each product is rounded to the element type once, whoever reduces it: the bytes of the result are those of a SUM of
// inputs that the callers had multiplied, and depend neither on the algorithm's owners nor on the chunks.
#pragma once

#include "runtime/engine/schedule.h"

namespace isthmus {

// Where the products lie.
enum class Products {
  kInOutput,   // at the input's offsets; for schedules that are right in place, whose output is as long as the input
  kInScratch,  // of their own; for all others
};

// `sum` with every read of the input replaced by one of the products. A product is made when the first step that reads
// it is near, in the pieces in which the input is read.
Schedule premultiply(const Schedule& sum, Products products);

}  // namespace isthmus
