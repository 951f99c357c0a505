// Which types reduce with which operators: the one place that says so.
//
// Threads: any thread.
#pragma once

#include <string>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace isthmus {

bool is_reducible(DataType type, ReduceOp op);

// unsupported, naming both and what is supported, unless the pair may be reduced.
Status check_reducible(DataType type, ReduceOp op);

// A row per type and a column per operator, "yes" or "no", as a Markdown table.
std::string reductions_as_markdown();

}  // namespace isthmus
