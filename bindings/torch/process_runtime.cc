#include "bindings/torch/process_runtime.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "bindings/torch/exceptions.h"
#include "bindings/torch/stderr_log.h"

namespace isthmus::torch_binding {
namespace {

struct Slot {
  std::mutex mutex;
  std::weak_ptr<ProcessRuntime> runtime;
  std::atomic<pid_t> owner{0};  // process whose runtime it is; 0: none
};

// Never destroyed: threads may outlive static destructors.
Slot& slot() {
  static auto* instance = new Slot;
  return *instance;
}

struct OptionsDestroy {
  void operator()(isthmus_options* options) const { isthmus_options_destroy(options); }
};
using OptionsHandle = std::unique_ptr<isthmus_options, OptionsDestroy>;

OptionsHandle load_options() {
  isthmus_options* options = nullptr;
  check_status(isthmus_options_create(&options));
  OptionsHandle handle(options);
  check_status(isthmus_options_load_environment(options));
  return handle;
}

std::string option(isthmus_options* options, const char* name) {
  const char* value = nullptr;
  check_status(isthmus_options_get(options, name, &value));
  return value;
}

// The lock of the slot may be held for ever in a forked child, so this comes before it.
bool forked() {
  const pid_t owner = slot().owner.load();
  return owner != 0 && owner != ::getpid();
}

}  // namespace

std::shared_ptr<ProcessRuntime> ProcessRuntime::acquire(int rank) {
  if (forked()) {
    throw_status(ISTHMUS_UNAVAILABLE,
                 "process " + std::to_string(::getpid()) + " was forked from process " +
                     std::to_string(slot().owner.load()) +
                     ", which uses Isthmus; threads do not survive a fork, start workers with \"spawn\"");
  }
  const std::scoped_lock lock(slot().mutex);
  auto runtime = slot().runtime.lock();
  if (runtime == nullptr) {
    runtime.reset(new ProcessRuntime(rank));
    slot().runtime = runtime;
    slot().owner = ::getpid();
  }
  return runtime;
}

std::shared_ptr<ProcessRuntime> ProcessRuntime::current() {
  if (forked()) return nullptr;
  const std::scoped_lock lock(slot().mutex);
  return slot().runtime.lock();
}

ProcessRuntime::ProcessRuntime(int rank) {
  const OptionsHandle options = load_options();
  log_to_stderr(option(options.get(), "log_level"), rank);
  connect_timeout_ms_ = std::stoll(option(options.get(), "connect_timeout_ms"));
  check_status(isthmus_runtime_create(options.get(), &runtime_));
}

ProcessRuntime::~ProcessRuntime() {
  isthmus_runtime_destroy(runtime_);
  const std::scoped_lock lock(slot().mutex);
  if (slot().runtime.expired()) slot().owner = 0;
}

}  // namespace isthmus::torch_binding
