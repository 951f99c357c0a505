// KeyTable: the keys and values of a store, and what its operations mean. No waiting, no locks: the stores and the
// rendezvous server bring those.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/base/status.h"

namespace isthmus {

class KeyTable {
 public:
  void set(std::string_view key, std::string_view value) { values_.insert_or_assign(std::string(key), value); }
  const std::string* find(std::string_view key) const;  // nullptr: absent
  void remove(std::string_view key) { values_.erase(std::string(key)); }

  // The sum of the counter and `delta`, which the caller then sets. invalid_argument: the value is no decimal number,
  // or the sum has no place in 64 bits.
  Result<std::int64_t> sum(std::string_view key, std::int64_t delta) const;

 private:
  std::unordered_map<std::string, std::string> values_;
};

}  // namespace isthmus
