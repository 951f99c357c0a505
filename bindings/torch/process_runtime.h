// The one runtime of this process, which all its groups share: made with the first group, from the environment, and
// destroyed (goodbye, drain) with the last.
//
// Threads: any thread. The last reference must not be dropped on a thread of the library, nor with the GIL held: the
// destructor waits for the library's threads, and they may be waiting for the GIL.
#pragma once

#include <isthmus/isthmus.h>

#include <cstdint>
#include <memory>

namespace isthmus::torch_binding {

class ProcessRuntime {
 public:
  // `rank`: global rank of this process, for the log. Throws if the environment has a bad option, and in a process that
  // was forked while its parent had a runtime.
  static std::shared_ptr<ProcessRuntime> acquire(int rank);

  // Empty while no group exists.
  static std::shared_ptr<ProcessRuntime> current();

  ~ProcessRuntime();
  ProcessRuntime(const ProcessRuntime&) = delete;
  ProcessRuntime& operator=(const ProcessRuntime&) = delete;

  isthmus_runtime* handle() const { return runtime_; }
  std::int64_t connect_timeout_ms() const { return connect_timeout_ms_; }

 private:
  explicit ProcessRuntime(int rank);

  isthmus_runtime* runtime_ = nullptr;
  std::int64_t connect_timeout_ms_ = 0;
};

}  // namespace isthmus::torch_binding
