// What a user may set per group: `init_process_group("isthmus", pg_options=isthmus.Options(...))`. What holds for the
// whole process is set by ISTHMUS_* variables.
//
// Threads: one thread at a time.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace isthmus::torch_binding {

inline constexpr const char* kBackendName = "isthmus";

struct GroupOptions : c10d::Backend::Options {
  explicit GroupOptions(std::chrono::milliseconds timeout = kBackendDefaultTimeout,
                        std::chrono::milliseconds connect_timeout = std::chrono::milliseconds::zero())
      : c10d::Backend::Options(kBackendName, timeout), connect_timeout(connect_timeout) {}

#ifdef C10D_BACKEND_HAS_RECONFIGURE  // the versions of torch whose options can be cloned
  c10::intrusive_ptr<c10d::Backend::Options> clone() const override { return c10::make_intrusive<GroupOptions>(*this); }
#endif

  // Of several operations that may send, those of higher priority go first; a hint.
  int priority = 0;
  // Limit of the group's construction. Zero: ISTHMUS_CONNECT_TIMEOUT_MS, or `timeout` where that is shorter.
  std::chrono::milliseconds connect_timeout;
};

}  // namespace isthmus::torch_binding
