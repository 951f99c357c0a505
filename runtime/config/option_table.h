// The one table of all options: it drives parsing, `isthmus info --options`, access from Python and the README.
// Defaults are not written here: they are the initial values of the struct Options.
//
// Threads: any thread; the table is constant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/config/options.h"

namespace isthmus {

using OptionField = std::variant<bool Options::*, std::int64_t Options::*, double Options::*, std::string Options::*>;

struct OptionRow {
  std::string_view name;      // "chunk_bytes"
  std::string_view variable;  // "ISTHMUS_CHUNK_BYTES"
  OptionField field;
  std::string_view unit;     // "bytes", "ms"; empty: none
  double low = 0, high = 0;  // integers and numbers: both inclusive
  std::string_view choices;  // texts: "auto|shm|link"; empty: free text
  std::string_view form;     // free texts: what is expected
  std::string_view sentence;
  bool is_secret = false;  // the value is shown nowhere: neither in lists nor in errors
};

std::span<const OptionRow> option_table();

// nullptr: no such option.
const OptionRow* find_option(std::string_view name);

std::string_view option_type(const OptionRow& row);  // "switch", "integer", "number", "choice" or "text"
std::string option_range(const OptionRow& row);      // "1..64", "auto, shm, link", or the form of a text
std::string option_default(const OptionRow& row);

// The candidate with the fewest single-letter edits from `name`; for "did you mean". Empty: no candidates.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace isthmus
