#include "runtime/device/rounding_state.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "Isthmus knows the floating-point control register of x86-64 and aarch64 only"
#endif

namespace isthmus {

#if defined(__x86_64__)

DefaultRoundingState::DefaultRoundingState() : control_(_mm_getcsr()), flags_(0) {
  constexpr unsigned kDefaultMxcsr = 0x1f80;  // every exception masked; nearest even; FTZ and DAZ off
  _mm_setcsr(kDefaultMxcsr);
}

DefaultRoundingState::~DefaultRoundingState() { _mm_setcsr(static_cast<unsigned>(control_)); }

#else

DefaultRoundingState::DefaultRoundingState() {
  asm volatile("mrs %0, fpcr" : "=r"(control_));
  asm volatile("mrs %0, fpsr" : "=r"(flags_));
  asm volatile("msr fpcr, xzr" ::: "memory");  // nearest even; FZ, FIZ, FZ16, DN and traps off
}

DefaultRoundingState::~DefaultRoundingState() {
  asm volatile("msr fpcr, %0" ::"r"(control_) : "memory");
  asm volatile("msr fpsr, %0" ::"r"(flags_) : "memory");
}

#endif

}  // namespace isthmus
