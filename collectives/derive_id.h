// derive_id: the id of a communicator made from another, which every member computes alike (finaliser of SplitMix64).
//
// Threads: a pure function.
#pragma once

#include <cstdint>

namespace isthmus {

inline std::uint64_t derive_id(std::uint64_t parent, std::uint64_t split, std::uint64_t color) {
  std::uint64_t x = parent + 0x9e3779b97f4a7c15u * (split << 32 | color) + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace isthmus
