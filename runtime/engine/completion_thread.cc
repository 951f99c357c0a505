#include "runtime/engine/completion_thread.h"

#include <pthread.h>

namespace isthmus {

CompletionThread::CompletionThread() {
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "isthmus-done");
}

CompletionThread::~CompletionThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void CompletionThread::post(std::function<void()> fn) {
  {
    std::lock_guard lock(mutex_);
    functions_.push_back(std::move(fn));
  }
  wake_.notify_one();
}

void CompletionThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !functions_.empty(); });
    if (functions_.empty()) return;
    const std::function<void()> fn = std::move(functions_.front());
    functions_.pop_front();
    lock.unlock();
    fn();
    lock.lock();
  }
}

}  // namespace isthmus
