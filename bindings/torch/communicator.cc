#include "bindings/torch/communicator.h"

#include <unistd.h>

#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {
namespace {

// Communicators that are open. Never destroyed: threads may outlive static destructors.
struct Registry {
  std::atomic<pid_t> owner{0};  // process that filled it; a forked child must not even lock it
  std::mutex mutex;
  std::set<std::shared_ptr<Communicator>> open;
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

thread_local int completion_depth = 0;

}  // namespace

Communicator::CompletionScope::CompletionScope() { ++completion_depth; }
Communicator::CompletionScope::~CompletionScope() { --completion_depth; }

Communicator::Communicator(std::shared_ptr<ProcessRuntime> runtime, isthmus_communicator* handle, std::string name)
    : name_(std::move(name)), owner_(::getpid()), handle_(handle), runtime_(std::move(runtime)) {}

Communicator::~Communicator() = default;

std::shared_ptr<Communicator> Communicator::adopt(std::shared_ptr<ProcessRuntime> runtime, isthmus_communicator* handle,
                                                  std::string name) {
  std::shared_ptr<Communicator> communicator(new Communicator(std::move(runtime), handle, std::move(name)));
  const std::scoped_lock lock(registry().mutex);
  registry().owner = communicator->owner_;
  registry().open.insert(communicator);
  return communicator;
}

std::chrono::steady_clock::time_point Communicator::grace() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(2);
}

bool Communicator::forked() const { return owner_ != ::getpid(); }

void Communicator::throw_closed() const {
  throw_status(forked() ? ISTHMUS_UNAVAILABLE : ISTHMUS_ABORTED,
               "process group \"" + name_ + "\" " +
                   (forked() ? "belongs to the process that this one was forked from; start workers with \"spawn\""
                             : "was shut down"));
}

void Communicator::throw_failed(isthmus_status status) { check_status(status); }

void Communicator::began() {
  const std::scoped_lock lock(in_flight_mutex_);
  ++in_flight_count_;
}

void Communicator::ended() {
  const std::scoped_lock lock(in_flight_mutex_);
  if (--in_flight_count_ == 0) idle_.notify_all();
}

bool Communicator::wait_for_operations(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(in_flight_mutex_);
  return idle_.wait_until(lock, deadline, [this] { return in_flight_count_ == 0; });
}

void Communicator::close(std::chrono::steady_clock::time_point deadline) noexcept {
  if (forked() || completion_depth > 0) return;
  wait_for_operations(deadline);
  isthmus_communicator* handle = nullptr;
  std::shared_ptr<ProcessRuntime> runtime;
  {
    const std::unique_lock lock(handle_mutex_);
    std::swap(handle, handle_);
    std::swap(runtime, runtime_);
  }
  isthmus_communicator_destroy(handle);
  runtime.reset();
  const std::scoped_lock lock(registry().mutex);
  registry().open.erase(shared_from_this());
}

bool Communicator::closed() {
  if (forked()) return true;
  const std::shared_lock lock(handle_mutex_);
  return handle_ == nullptr;
}

void Communicator::close_all() noexcept {
  if (registry().owner != ::getpid()) return;
  const auto deadline = grace();
  std::vector<std::shared_ptr<Communicator>> open;
  {
    const std::scoped_lock lock(registry().mutex);
    open.assign(registry().open.begin(), registry().open.end());
  }
  for (const auto& communicator : open) communicator->close(deadline);
}

}  // namespace isthmus::torch_binding
