// WorkerPool: a few threads that compute (reductions) so that the progress thread does not.
//
// Threads: submit() from any thread. A job runs on a worker, or inside submit() when the pool has no threads. The
// destructor runs what was submitted, then ends the workers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace isthmus {

class WorkerPool {
 public:
  explicit WorkerPool(int thread_count, const char* thread_name);
  ~WorkerPool();

  // Plain data, so that handing a job over allocates nothing.
  struct Job {
    void (*run)(void* context, std::uint32_t argument);
    void* context;
    std::uint32_t argument;
  };
  void submit(const Job& job);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace isthmus
