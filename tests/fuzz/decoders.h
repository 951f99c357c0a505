// Decoders, as fuzzers see them: bytes in, nothing may go wrong.
//
// Threads: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isthmus::fuzz {

struct Decoder {
  const char* name;
  // Decodes, and looks at what came out. Empty, or what is wrong in words.
  std::string (*run)(std::string_view bytes);
  std::vector<std::string> (*valid)();  // messages to begin with
};

std::span<const Decoder> control_decoders();
std::span<const Decoder> link_decoders();

}  // namespace isthmus::fuzz
