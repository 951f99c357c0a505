#include "collectives/work.h"

namespace isthmus {

Work::Work(std::uint64_t sequence, std::string what, CompletionThread* completions, std::function<void()> abort)
    : sequence_(sequence), what_(std::move(what)), completions_(completions), abort_(std::move(abort)) {}

void Work::abort() {
  if (!done()) abort_();
}

Status Work::wait(Duration timeout) {
  std::unique_lock lock(mutex_);
  if (timeout < Duration::zero()) {
    ended_.wait(lock, [this] { return is_done_; });
    return status_;
  }
  if (!ended_.wait_for(lock, timeout, [this] { return is_done_; }))
    return deadline_exceeded("{}: still in flight after a wait of {:.3f} s; it goes on", what_, to_seconds(timeout));
  return status_;
}

bool Work::done() const {
  std::lock_guard lock(mutex_);
  return is_done_;
}

Status Work::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

Status Work::on_complete(std::function<void(const Status&)> callback) {
  {
    std::lock_guard lock(mutex_);
    if (has_callback_) return invalid_argument("{}: has a completion callback already", what_);
    has_callback_ = true;
    if (!is_done_) {
      callback_ = std::move(callback);
      return Status();
    }
  }
  callback(status_);
  return Status();
}

void Work::finish(const Status& status) {
  std::function<void(const Status&)> callback;
  {
    std::lock_guard lock(mutex_);
    status_ = status;
    is_done_ = true;
    callback = std::move(callback_);
    ended_.notify_all();
  }
  if (callback) completions_->post([callback = std::move(callback), status] { callback(status); });
}

}  // namespace isthmus
