#include "runtime/config/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime/config/option_access.h"

namespace isthmus {
namespace {

constexpr std::string_view kPrefix = "ISTHMUS_";

Status unknown_variable(std::string_view name) {
  std::vector<std::string_view> variables;
  for (const OptionRow& row : option_table()) variables.push_back(row.variable);
  return invalid_argument("the environment has {}, which is no option of Isthmus; did you mean {}?", name,
                          nearest_name(name, variables));
}

}  // namespace

Result<Options> options_from_environment(Options defaults) {
  const auto table = option_table();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kPrefix)) continue;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.variable == name; });
    if (row == table.end()) return unknown_variable(name);
    const Status status = set_option(defaults, *row, text.substr(std::min(equals + 1, text.size())));
    if (!status.ok()) return status.with_context(name);
  }
  return defaults;
}

std::optional<std::string> environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace isthmus
