// The floating-point state of the calling thread: the default one (to nearest even, subnormals kept, no traps) while
// the object lives, then what was there before, its exception flags included.
//
// It is the state of SSE on x86-64 (not of the x87 unit, which no kernel uses) and FPCR on aarch64.
//
// Threads: one thread, whose state it is. Code that depends on it is called from the scope, not inlined into it.
#pragma once

#include <cstdint>

namespace isthmus {

class DefaultRoundingState {
 public:
  DefaultRoundingState();
  ~DefaultRoundingState();
  DefaultRoundingState(const DefaultRoundingState&) = delete;
  DefaultRoundingState& operator=(const DefaultRoundingState&) = delete;

 private:
  std::uint64_t control_;
  std::uint64_t flags_;  // aarch64 keeps them in a register of their own
};

}  // namespace isthmus
