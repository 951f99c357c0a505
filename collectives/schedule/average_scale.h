// How an AVG is scaled on the way, and how the result of a reduction is finished.
//
// Threads: values.
#pragma once

#include <cstdint>

#include "collectives/schedule/builder.h"
#include "collectives/site_map.h"
#include "runtime/base/dtype.h"

namespace isthmus {

// Powers of two that keep the partials of an AVG of halves in range; all 0 for every other type and operation.
//
// Let e_s = ceil(log2 L_s) for a site of L_s ranks, and E = ceil(log2 N). A site multiplies its inputs by 2^-e_s before
// it sums them, so its partial is at most as large as its largest input. The final sum takes each partial times
// 2^(e_s - E), again at most as large as the largest input; divided by N and multiplied by 2^E it is the average.
// Powers of two are exact (but for numbers so small that they become subnormal), so nothing is rounded more often.
class AverageScale {
 public:
  AverageScale(DataType type, ReduceOp op, const SiteMap& sites);

  std::int8_t input_in_site(int site) const;     // of an input, when the partial of its site is made
  std::int8_t partial_in_total(int site) const;  // of the partial of a site, when the result is made
  std::int8_t input_in_total() const;            // of an input, when the result is made from inputs
  Finish finish() const { return finish_; }      // of the result

 private:
  const SiteMap* sites_;
  bool scales_;
  int total_exponent_;
  Finish finish_;
};

}  // namespace isthmus
