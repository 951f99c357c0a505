// A communicator of the C API with its share of the process's runtime, and the end of both: at shutdown of the group,
// at its destruction, or before the interpreter goes, whichever is first.
//
// Threads: any thread. call() may be made from a completion callback; close() there only marks the communicator, and
// close_all ends it, since the runtime cannot be destroyed on its own thread.
#pragma once

#include <isthmus/isthmus.h>
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "bindings/torch/process_runtime.h"

namespace isthmus::torch_binding {

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  // Takes over `handle`.
  static std::shared_ptr<Communicator> adopt(std::shared_ptr<ProcessRuntime> runtime, isthmus_communicator* handle,
                                             std::string name);

  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // action(isthmus_communicator*) -> isthmus_status, while the communicator cannot be closed: it must not run
  // callbacks, nor wait without a deadline, since close() waits for it. Throws how it failed, or that the group was
  // shut down.
  template <typename Action>
  void call(Action action);

  // Operations in flight have until `deadline` to end, then fail. Idempotent; does nothing in a forked child. Without
  // the GIL.
  void close(std::chrono::steady_clock::time_point deadline = grace()) noexcept;

  bool closed();

  // False if operations are still in flight at `deadline`.
  bool wait_for_operations(std::chrono::steady_clock::time_point deadline);

  // Ends whatever is still open: before the interpreter goes, since completions may run Python callbacks.
  static void close_all() noexcept;

  // Bracket every operation in flight.
  void began();
  void ended();

  // Marks the current thread as running a completion callback.
  class CompletionScope {
   public:
    CompletionScope();
    ~CompletionScope();
  };

 private:
  Communicator(std::shared_ptr<ProcessRuntime> runtime, isthmus_communicator* handle, std::string name);
  static std::chrono::steady_clock::time_point grace();  // two seconds from now
  bool forked() const;
  [[noreturn]] void throw_closed() const;
  static void throw_failed(isthmus_status status);

  const std::string name_;
  const pid_t owner_;
  std::shared_mutex handle_mutex_;  // shared: handle_ is in use; exclusive: it goes away
  isthmus_communicator* handle_;
  std::shared_ptr<ProcessRuntime> runtime_;

  std::mutex in_flight_mutex_;
  std::condition_variable idle_;
  int in_flight_count_ = 0;
};

template <typename Action>
void Communicator::call(Action action) {
  if (forked()) throw_closed();
  const std::shared_lock lock(handle_mutex_);
  if (handle_ == nullptr) throw_closed();
  const isthmus_status status = action(handle_);
  if (status != ISTHMUS_OK) throw_failed(status);
}

}  // namespace isthmus::torch_binding
