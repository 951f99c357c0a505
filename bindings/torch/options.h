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

  // Limit of the group's construction. Zero: ISTHMUS_CONNECT_TIMEOUT_MS, or `timeout` where that is shorter.
  std::chrono::milliseconds connect_timeout;
};

}  // namespace isthmus::torch_binding
