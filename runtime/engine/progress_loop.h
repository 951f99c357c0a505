// ProgressLoop: the progress thread of a runtime. Moves links, site channels and groups; sleeps in the kernel when
// nothing can be moved.
//
// Threads: post(), call() and stop() from any thread; everything else on the progress thread, that is, inside a posted
// function.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/fd.h"
#include "runtime/engine/group.h"
#include "runtime/engine/progress_source.h"
#include "runtime/link/link_set.h"

namespace isthmus {

class ProgressLoop {
 public:
  static Result<std::unique_ptr<ProgressLoop>> create(const Clock* clock);
  ~ProgressLoop();  // stop() comes first

  // The links belong to the loop. Before start().
  void set_links(std::unique_ptr<LinkSet> links) { links_ = std::move(links); }
  void start();

  // Runs what is posted so far, then ends the thread. Later posts are dropped.
  void stop();

  void post(std::function<void()> fn);
  // Runs `fn` on the progress thread and waits for it. Not from the progress thread itself.
  void call(const std::function<void()>& fn);

  LinkSet& links() { return *links_; }
  std::unordered_map<std::uint64_t, std::unique_ptr<Group>>& groups() { return groups_; }
  void add_source(ProgressSource* source) { sources_.push_back(source); }
  void remove_source(ProgressSource* source) { std::erase(sources_, source); }

 private:
  explicit ProgressLoop(const Clock* clock) : clock_(clock) {}

  void run();
  bool run_posted();
  bool step();
  void sleep();
  bool arm_all();

  const Clock* const clock_;
  WakeFd wake_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_, running_;
  bool stopping_ = false, stopped_ = false;

  std::unique_ptr<LinkSet> links_;
  std::vector<ProgressSource*> sources_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Group>> groups_;
  std::thread thread_;
};

}  // namespace isthmus
