// CompletionThread: where code of the user runs when an operation has ended, so that the progress thread never waits
// for it.
//
// Threads: post() from any thread. Functions run one at a time, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace isthmus {

class CompletionThread {
 public:
  CompletionThread();
  ~CompletionThread();  // runs what was posted, then ends; not on the thread itself

  void post(std::function<void()> fn);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> functions_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace isthmus
