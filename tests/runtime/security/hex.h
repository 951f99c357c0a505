// Bytes as they stand in specifications.
//
// Threads: pure functions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace isthmus::testing {

inline std::string to_hex(ConstBytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

inline std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

inline MutableBytes as_mutable(std::string& text) { return {reinterpret_cast<std::byte*>(text.data()), text.size()}; }

}  // namespace isthmus::testing
