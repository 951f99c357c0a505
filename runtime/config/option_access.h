// Reading and writing options by name and as text, and the rules between them.
//
// Threads: any thread, on its own Options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/option_table.h"
#include "runtime/config/options.h"

namespace isthmus {

// invalid_argument names the option, the value and its range; for an unknown name, the nearest one. Rules between
// options are not looked at: see check_options.
Status set_option(Options& options, std::string_view name, std::string_view text);
Status set_option(Options& options, const OptionRow& row, std::string_view text);

// For people: a secret reads as "(set)".
Result<std::string> get_option(const Options& options, std::string_view name);
std::string option_text(const Options& options, const OptionRow& row);

// Every value against its row, and the rules between options: invalid_argument names the options and both values.
Status check_options(const Options& options);

// What is allowed, but most likely not meant; one sentence each, to be logged when a runtime starts.
std::vector<std::string> option_warnings(const Options& options);

}  // namespace isthmus
