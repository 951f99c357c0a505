#include "runtime/config/option_list.h"

#include "runtime/config/option_access.h"

namespace isthmus {
namespace {

std::string range_with_unit(const OptionRow& row) {
  return row.unit.empty() ? option_range(row) : fmt::format("{} {}", option_range(row), row.unit);
}

std::string shown(const std::string& value) { return value.empty() ? "(empty)" : value; }

}  // namespace

std::string options_as_text(const Options& options) {
  std::string page;
  for (const OptionRow& row : option_table()) {
    const std::string value = option_text(options, row), initial = option_default(row);
    page += fmt::format("{} = {}{}\n    {} ({}: {})\n    {}\n", row.name, shown(value),
                        value == initial ? "" : fmt::format("   [default: {}]", shown(initial)), row.variable,
                        option_type(row), range_with_unit(row), row.sentence);
  }
  return page;
}

std::string options_as_markdown() {
  std::string page = "| option | variable | range | default | meaning |\n|---|---|---|---|---|\n";
  for (const OptionRow& row : option_table()) {
    const std::string initial = option_default(row);
    page += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", row.name, row.variable, range_with_unit(row),
                        initial.empty() ? "" : fmt::format("`{}`", initial), row.sentence);
  }
  return page;
}

}  // namespace isthmus
