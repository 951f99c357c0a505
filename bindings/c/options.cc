#include <vector>

#include "bindings/c/handles.h"
#include "runtime/config/environment.h"
#include "runtime/config/option_access.h"
#include "runtime/config/option_table.h"

using isthmus::c_api::guard;

isthmus_status isthmus_options_create(isthmus_options** options) {
  return guard([&]() -> isthmus::Status {
    if (options == nullptr) return isthmus::invalid_argument("isthmus_options_create: options is null");
    *options = new isthmus_options();
    return isthmus::Status();
  });
}

isthmus_status isthmus_options_load_environment(isthmus_options* options) {
  return guard([&]() -> isthmus::Status {
    if (options == nullptr) return isthmus::invalid_argument("isthmus_options_load_environment: options is null");
    ISTHMUS_ASSIGN_OR_RETURN(options->values, isthmus::options_from_environment(options->values));
    return isthmus::Status();
  });
}

isthmus_status isthmus_options_set(isthmus_options* options, const char* name, const char* value) {
  return guard([&]() -> isthmus::Status {
    if (options == nullptr || name == nullptr || value == nullptr)
      return isthmus::invalid_argument("isthmus_options_set: options, name or value is null");
    return isthmus::set_option(options->values, name, value);
  });
}

isthmus_status isthmus_options_get(isthmus_options* options, const char* name, const char** value) {
  return guard([&]() -> isthmus::Status {
    if (options == nullptr || name == nullptr || value == nullptr)
      return isthmus::invalid_argument("isthmus_options_get: options, name or value is null");
    ISTHMUS_ASSIGN_OR_RETURN(options->last_text, isthmus::get_option(options->values, name));
    *value = options->last_text.c_str();
    return isthmus::Status();
  });
}

void isthmus_options_destroy(isthmus_options* options) { delete options; }

namespace {

// The table's texts as C strings that live for ever.
struct RowText {
  std::string name, variable, type, unit, range, default_value, description;
};

const std::vector<RowText>& row_texts() {
  static const std::vector<RowText>* const texts = [] {
    auto* rows = new std::vector<RowText>();
    for (const isthmus::OptionRow& row : isthmus::option_table())
      rows->push_back({std::string(row.name), std::string(row.variable), std::string(isthmus::option_type(row)),
                       std::string(row.unit), isthmus::option_range(row), isthmus::option_default(row),
                       std::string(row.sentence)});
    return rows;
  }();
  return *texts;
}

}  // namespace

isthmus_status isthmus_option_table_row(size_t index, isthmus_option_info* info) {
  return guard([&]() -> isthmus::Status {
    if (info == nullptr) return isthmus::invalid_argument("isthmus_option_table_row: info is null");
    ISTHMUS_ASSIGN_OR_RETURN(isthmus_option_info filled, isthmus::c_api::read_struct(info, "isthmus_option_info"));
    const auto& rows = row_texts();
    if (index >= rows.size())
      return isthmus::invalid_argument("isthmus_option_table_row: index {} of {} rows", index, rows.size());
    const RowText& row = rows[index];
    filled.name = row.name.c_str();
    filled.variable = row.variable.c_str();
    filled.type = row.type.c_str();
    filled.unit = row.unit.c_str();
    filled.range = row.range.c_str();
    filled.default_value = row.default_value.c_str();
    filled.description = row.description.c_str();
    filled.struct_size = info->struct_size;
    std::memcpy(info, &filled, std::min(info->struct_size, sizeof(filled)));
    return isthmus::Status();
  });
}
