// The option table as a page, for `isthmus info --options` and for the README.
//
// Threads: any thread.
#pragma once

#include <string>

#include "runtime/config/options.h"

namespace isthmus {

// One paragraph per option: name, variable, type and range, the value in `options` (marked where it is not the
// default), sentence.
std::string options_as_text(const Options& options);

// A Markdown table of names, variables, ranges, defaults and sentences.
std::string options_as_markdown();

}  // namespace isthmus
