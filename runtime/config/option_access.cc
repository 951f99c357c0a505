#include "runtime/config/option_access.h"

#include <arpa/inet.h>

#include <algorithm>

#include "runtime/config/port_range.h"
#include "runtime/config/value_text.h"

namespace isthmus {
namespace {

Status out_of_range(std::string_view text, const OptionRow& row) {
  return invalid_argument("\"{}\" is outside {}{}{}", text, option_range(row), row.unit.empty() ? "" : " ", row.unit);
}

bool is_numeric_address(const std::string& text) {
  in6_addr address;
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 || ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == text) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

// The forms of free texts that have one.
Status check_form(const OptionRow& row, const std::string& text) {
  if (row.name == "port_range") return parse_port_range(text).status();
  const bool printable = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
  if (!printable) return invalid_argument("\"{}\" has a space or a control character", text);
  if (row.name == "advertise_address" && !text.empty() && !is_numeric_address(text)) {
    return invalid_argument("\"{}\" is not a numeric address", text);
  }
  return Status();
}

Status assign(const OptionRow&, std::string_view text, bool* value) {
  ISTHMUS_ASSIGN_OR_RETURN(*value, parse_switch(text));
  return Status();
}

Status assign(const OptionRow& row, std::string_view text, std::int64_t* value) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t parsed, parse_integer(text));
  if (parsed < static_cast<std::int64_t>(row.low) || parsed > static_cast<std::int64_t>(row.high)) {
    return out_of_range(text, row);
  }
  *value = parsed;
  return Status();
}

Status assign(const OptionRow& row, std::string_view text, double* value) {
  ISTHMUS_ASSIGN_OR_RETURN(const double parsed, parse_number(text));
  if (parsed < row.low || parsed > row.high) return out_of_range(text, row);
  *value = parsed;
  return Status();
}

Status assign(const OptionRow& row, std::string_view text, std::string* value) {
  if (!row.choices.empty() && !is_choice(row.choices, text)) {
    return invalid_argument("\"{}\" is none of its values", text);
  }
  std::string copy(text);
  if (row.choices.empty()) ISTHMUS_RETURN_IF_ERROR(check_form(row, copy));
  *value = std::move(copy);
  return Status();
}

Status require_less(std::string_view low_name, std::int64_t low, std::string_view high_name, std::int64_t high) {
  if (low < high) return Status();
  return invalid_argument("{} ({}) must be less than {} ({})", low_name, low, high_name, high);
}

Status require_at_most(std::string_view low_name, std::int64_t low, std::string_view high_name, std::int64_t high) {
  if (low <= high) return Status();
  return invalid_argument("{} ({}) must be at most {} ({})", low_name, low, high_name, high);
}

Status unknown_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionRow& row : option_table()) names.push_back(row.name);
  return invalid_argument("there is no option \"{}\"; did you mean {}?", name, nearest_name(name, names));
}

}  // namespace

Status set_option(Options& options, const OptionRow& row, std::string_view text) {
  const Status status = std::visit([&](auto field) { return assign(row, text, &(options.*field)); }, row.field);
  if (status.ok()) return status;
  if (row.is_secret) {
    return invalid_argument("option {}: the value (not shown) is not {}", row.name, option_range(row));
  }
  return invalid_argument("option {}: {} (expected {}{}{}; default \"{}\")", row.name, status.message(),
                          option_range(row), row.unit.empty() ? "" : " ", row.unit, option_default(row));
}

Status set_option(Options& options, std::string_view name, std::string_view text) {
  const OptionRow* row = find_option(name);
  return row == nullptr ? unknown_option(name) : set_option(options, *row, text);
}

namespace {

std::string plain_text(const Options& options, const OptionRow& row) {
  const auto text_of = [](const auto& value) -> std::string {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      return value;
    } else {
      return value_text(value);
    }
  };
  return std::visit([&](auto field) { return text_of(options.*field); }, row.field);
}

}  // namespace

std::string option_text(const Options& options, const OptionRow& row) {
  const std::string text = plain_text(options, row);
  return row.is_secret && !text.empty() ? "(set)" : text;
}

Result<std::string> get_option(const Options& options, std::string_view name) {
  const OptionRow* row = find_option(name);
  if (row == nullptr) return unknown_option(name);
  return option_text(options, *row);
}

Status check_options(const Options& options) {
  Options copy = options;
  for (const OptionRow& row : option_table()) ISTHMUS_RETURN_IF_ERROR(set_option(copy, row, plain_text(options, row)));
  const Options& o = options;
  ISTHMUS_RETURN_IF_ERROR(require_at_most("segment_bytes", o.segment_bytes, "chunk_bytes", o.chunk_bytes));
  ISTHMUS_RETURN_IF_ERROR(require_at_most("segment_bytes", o.segment_bytes, "lane_window_bytes", o.lane_window_bytes));
  ISTHMUS_RETURN_IF_ERROR(require_less("heartbeat_ms", o.heartbeat_ms, "suspect_ms", o.suspect_ms));
  return require_less("suspect_ms", o.suspect_ms, "link_grace_ms", o.link_grace_ms);
}

std::vector<std::string> option_warnings(const Options& options) {
  std::vector<std::string> warnings;
  if (options.timeout_ms < options.link_grace_ms) {
    warnings.push_back(
        fmt::format("timeout_ms ({}) is shorter than link_grace_ms ({}): an operation fails before a cut of the line "
                    "has been waited for",
                    options.timeout_ms, options.link_grace_ms));
  }
  if (options.timeout_ms <= options.heartbeat_ms) {
    warnings.push_back(
        fmt::format("timeout_ms ({}) is not longer than heartbeat_ms ({})", options.timeout_ms, options.heartbeat_ms));
  }
  return warnings;
}

}  // namespace isthmus
