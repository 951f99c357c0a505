// SignalKeeper: what the process does on each signal, kept over a call that may change it (loading a library whose
// constructor installs handlers).
//
// Threads: one thread at a time for the whole process; dispositions belong to the process.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace isthmus {

class SignalKeeper {
 public:
  SignalKeeper() {
    for (int number = 1; number < NSIG; ++number)
      is_kept_[index(number)] = ::sigaction(number, nullptr, &kept_[index(number)]) == 0;
  }
  ~SignalKeeper() {
    for (int number = 1; number < NSIG; ++number)
      if (is_kept_[index(number)] && number != SIGKILL && number != SIGSTOP)
        ::sigaction(number, &kept_[index(number)], nullptr);
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  std::array<struct sigaction, NSIG> kept_{};
  std::array<bool, NSIG> is_kept_{};
};

}  // namespace isthmus
