// Starting a thread of the library: named, with all signals blocked (they are for the application's own threads), and
// with failure as a Status instead of an exception.
//
// Threads: any thread.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

#include "runtime/base/status.h"

namespace isthmus {

// `name`: at most 15 characters. unavailable: the system has no thread left.
template <typename Body>
Result<std::thread> start_thread(const char* name, Body&& body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // a new thread inherits the mask
  Status status;
  std::thread thread;
  try {
    thread = std::thread(std::forward<Body>(body));
    ::pthread_setname_np(thread.native_handle(), name);
  } catch (const std::system_error& error) {
    status = unavailable("cannot start the thread {}: {}", name, error.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!status.ok()) return status;
  return thread;
}

}  // namespace isthmus
