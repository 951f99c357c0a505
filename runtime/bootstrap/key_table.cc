#include "runtime/bootstrap/key_table.h"

#include <charconv>

namespace isthmus {

const std::string* KeyTable::find(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  return found == values_.end() ? nullptr : &found->second;
}

Result<std::int64_t> KeyTable::sum(std::string_view key, std::int64_t delta) const {
  std::int64_t value = 0;
  if (const std::string* text = find(key); text != nullptr) {
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc() || stop != end) return invalid_argument("the value of key \"{}\" is no counter", key);
  }
  std::int64_t total = 0;
  if (__builtin_add_overflow(value, delta, &total)) {
    return invalid_argument("the counter \"{}\" ({} + {}) leaves 64 bits", key, value, delta);
  }
  return total;
}

}  // namespace isthmus
