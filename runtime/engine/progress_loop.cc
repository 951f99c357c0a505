#include "runtime/engine/progress_loop.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <future>

namespace isthmus {
namespace {

// The longest sleep: bounds what a wake-up that a library loses can cost.
constexpr Duration kMaxSleep = std::chrono::milliseconds(100);

}  // namespace

Result<std::unique_ptr<ProgressLoop>> ProgressLoop::create(const Clock* clock) {
  std::unique_ptr<ProgressLoop> loop(new ProgressLoop(clock));
  ISTHMUS_ASSIGN_OR_RETURN(loop->wake_, WakeFd::create());
  return loop;
}

ProgressLoop::~ProgressLoop() { stop(); }

void ProgressLoop::start() {
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "isthmus-prog");
}

void ProgressLoop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.signal();
  if (thread_.joinable()) thread_.join();
}

void ProgressLoop::post(std::function<void()> fn) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    posted_.push_back(std::move(fn));
    if (posted_.size() > 1) return;  // the first one has signalled
  }
  wake_.signal();
}

void ProgressLoop::call(const std::function<void()>& fn) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> future = done->get_future();
  post([fn, done = std::move(done)] {
    fn();
    done->set_value();
  });
  future.wait();  // a stopped loop drops the function, which breaks the promise and ends the wait
}

bool ProgressLoop::run_posted() {
  {
    std::lock_guard lock(mutex_);
    running_.swap(posted_);
  }
  for (const auto& fn : running_) fn();
  const bool any = !running_.empty();
  running_.clear();
  return any;
}

bool ProgressLoop::step() {
  bool did_something = run_posted();
  did_something |= links_->progress();
  for (ProgressSource* source : sources_) did_something |= source->progress();
  const TimePoint now = clock_->now();
  for (auto& [id, group] : groups_) did_something |= group->tick(now);
  return did_something;
}

bool ProgressLoop::arm_all() {
  if (!links_->arm()) return false;
  for (ProgressSource* source : sources_)
    if (!source->arm()) return false;
  return true;
}

void ProgressLoop::sleep() {
  if (!arm_all()) return;
  TimePoint due = links_->next_due();
  for (ProgressSource* source : sources_) due = std::min(due, source->next_due());
  for (auto& [id, group] : groups_) due = std::min(due, group->next_due());
  const TimePoint now = clock_->now();
  if (due <= now) return;
  const Duration duration = std::min<Duration>(due - now, kMaxSleep);

  std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}, {links_->wait_fd(), POLLIN, 0}};
  for (ProgressSource* source : sources_) fds.push_back({source->wait_fd(), POLLIN, 0});
  const timespec timeout{duration.count() / 1'000'000'000, duration.count() % 1'000'000'000};
  ::ppoll(fds.data(), fds.size(), &timeout, nullptr);  // EINTR: the loop goes round
  if (fds[0].revents != 0) wake_.drain();
}

void ProgressLoop::run() {
  for (;;) {
    if (step()) continue;
    {
      std::lock_guard lock(mutex_);
      if (stopping_ && posted_.empty()) {
        stopped_ = true;
        break;
      }
      if (!posted_.empty()) continue;
    }
    sleep();
  }
}

}  // namespace isthmus
