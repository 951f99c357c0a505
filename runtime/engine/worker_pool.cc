#include "runtime/engine/worker_pool.h"

#include <pthread.h>

namespace isthmus {

WorkerPool::WorkerPool(int thread_count, const char* thread_name) {
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this] { run(); });
    ::pthread_setname_np(threads_.back().native_handle(), thread_name);
  }
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::submit(const Job& job) {
  if (threads_.empty()) return job.run(job.context, job.argument);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  wake_.notify_one();
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    job.run(job.context, job.argument);
    lock.lock();
  }
}

}  // namespace isthmus
