#include "runtime/engine/completion_thread.h"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace isthmus {

CompletionThread::CompletionThread(std::chrono::milliseconds patience) : patience_(patience) {
  std::lock_guard lock(mutex_);
  add_thread();
  add_thread();
}

CompletionThread::~CompletionThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;  // from here on nobody adds a thread
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompletionThread::add_thread() {
  threads_.emplace_back([this] { run(); });
  ::pthread_setname_np(threads_.back().native_handle(), "isthmus-done");
}

void CompletionThread::post(std::function<void()> fn) {
  bool needs_thread;
  {
    std::lock_guard lock(mutex_);
    functions_.push_back(std::move(fn));
    // The newest function's thread takes the next one by itself; another one only has to watch it meanwhile.
    needs_thread = !newest_runs_ || !is_watched_;
  }
  if (needs_thread) wake_.notify_one();
}

void CompletionThread::run() {
  std::unique_lock lock(mutex_);
  while (wait_for_turn(lock)) run_front(lock);
}

// Until the first function may be started; false: all are done, and no more come.
bool CompletionThread::wait_for_turn(std::unique_lock<std::mutex>& lock) {
  ++idle_count_;
  for (;;) {
    if (functions_.empty()) {
      if (stopping_) break;
      wake_.wait(lock);
    } else if (!newest_runs_ || Clock::now() >= newest_start_ + patience_) {
      break;
    } else if (is_watched_) {
      wake_.wait(lock);
    } else {
      is_watched_ = true;
      wake_.wait_until(lock, newest_start_ + patience_);
      is_watched_ = false;
    }
  }
  --idle_count_;
  if (functions_.empty()) wake_.notify_all();  // the one that watches need not wait for the end of its patience
  return !functions_.empty();
}

void CompletionThread::run_front(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t number = ++started_count_;
  newest_runs_ = true;
  newest_start_ = Clock::now();
  const std::function<void()> fn = std::move(functions_.front());
  functions_.pop_front();
  if (idle_count_ == 0 && !stopping_ && threads_.size() < kMaxThreads) {
    try {
      add_thread();
    } catch (const std::system_error&) {  // none to be had: functions wait for those that run
    }
  }
  if (!functions_.empty()) wake_.notify_one();  // to watch this one
  lock.unlock();
  fn();
  lock.lock();
  if (number == started_count_) newest_runs_ = false;
}

}  // namespace isthmus
