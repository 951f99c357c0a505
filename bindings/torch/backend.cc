#include "bindings/torch/backend.h"

#include <algorithm>
#include <utility>

#include "bindings/torch/connect.h"
#include "bindings/torch/exceptions.h"
#include "bindings/torch/gil.h"

namespace isthmus::torch_binding {
namespace {

c10::intrusive_ptr<GroupOptions> checked_copy(const c10::intrusive_ptr<GroupOptions>& options) {
  TORCH_CHECK_VALUE(options.defined(), "isthmus: a process group needs options");
  TORCH_CHECK_VALUE(options->timeout.count() > 0, "isthmus: the timeout of a process group must be positive, got ",
                    options->timeout.count(), " ms");
  return c10::make_intrusive<GroupOptions>(*options);
}

// What is meant as "never" must not wrap where a deadline is made of it.
std::int64_t bounded_ms(std::chrono::milliseconds timeout) {
  return std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(100 * 365 * 24)).count();
}

}  // namespace

ProcessGroupIsthmus::ProcessGroupIsthmus(const StorePtr& store, int rank, int size,
                                         const c10::intrusive_ptr<GroupOptions>& options)
    : Backend(rank, size),
      options_(checked_copy(options)),
      store_(store),
      timeout_ms_(bounded_ms(options_->timeout)),
      communicator_(connect(store, rank, size, *options_)) {
  init();
}

ProcessGroupIsthmus::ProcessGroupIsthmus(std::shared_ptr<Communicator> communicator, StorePtr store, int rank, int size,
                                         const c10::intrusive_ptr<GroupOptions>& options)
    : Backend(rank, size),
      options_(checked_copy(options)),
      store_(std::move(store)),
      timeout_ms_(bounded_ms(options_->timeout)),
      communicator_(std::move(communicator)) {
  init();
}

ProcessGroupIsthmus::~ProcessGroupIsthmus() {
  const WithoutGil without_gil;
  communicator_->close();
}

void ProcessGroupIsthmus::shutdown() {
  const WithoutGil without_gil;
  communicator_->close();
}

void ProcessGroupIsthmus::setTimeout(std::chrono::milliseconds timeout) {
  TORCH_CHECK_VALUE(timeout.count() > 0, "isthmus: the timeout of a process group must be positive, got ",
                    timeout.count(), " ms");
  timeout_ms_ = bounded_ms(timeout);
  options_->timeout = timeout;
}

c10d::ErrorType ProcessGroupIsthmus::getError() {
  isthmus_status status = ISTHMUS_OK;
  communicator_->call([&](isthmus_communicator* communicator) {
    status = isthmus_communicator_status(communicator);
    return ISTHMUS_OK;
  });
  switch (status) {
    case ISTHMUS_OK: return c10d::ErrorType::SUCCESS;
    case ISTHMUS_DEADLINE_EXCEEDED: return c10d::ErrorType::TIMEOUT;
    case ISTHMUS_UNAVAILABLE: return c10d::ErrorType::REMOTE_ERROR;
    default: return c10d::ErrorType::COMM_ERROR;
  }
}

void ProcessGroupIsthmus::abort() {
  if (communicator_->closed()) return;
  const std::string reason = "rank " + std::to_string(getRank()) + " aborted the process group";
  communicator_->call(
      [&](isthmus_communicator* communicator) { return isthmus_communicator_abort(communicator, reason.c_str()); });
}

std::vector<std::string> ProcessGroupIsthmus::site_names() {
  std::vector<std::string> names;
  communicator_->call([&](isthmus_communicator* communicator) {
    for (int rank = 0; rank < getSize(); ++rank) {
      names.emplace_back(isthmus_communicator_site_name(communicator, rank));
    }
    return ISTHMUS_OK;
  });
  return names;
}

void ProcessGroupIsthmus::waitForPendingWorks() {
  const WithoutGil without_gil;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms_.load());
  if (!communicator_->wait_for_operations(deadline)) {
    throw_status(ISTHMUS_DEADLINE_EXCEEDED,
                 "operations are still in flight after " + std::to_string(timeout_ms_.load()) + " ms");
  }
}

void ProcessGroupIsthmus::startCoalescing() {
  const std::scoped_lock lock(coalescing_mutex_);
  coalesced_.emplace();
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::endCoalescing() {
  std::optional<std::vector<IsthmusWorkPtr>> parts;
  {
    const std::scoped_lock lock(coalescing_mutex_);
    std::swap(parts, coalesced_);
  }
  TORCH_CHECK(parts.has_value(), "isthmus: endCoalescing without startCoalescing");
  return WorkIsthmus::combine(communicator_, new_call("coalesced", "isthmus:coalesced", c10d::OpType::COALESCED),
                              *parts);
}

WorkIsthmus::Call ProcessGroupIsthmus::new_call(const char* operation, const char* title, c10d::OpType type) const {
  WorkIsthmus::Call call;
  call.operation = operation;
  call.title = title;
  call.type = type;
  call.rank = getRank();
  return call;
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::started(const IsthmusWorkPtr& work) {
  WorkIsthmus::seal(work);
  const std::scoped_lock lock(coalescing_mutex_);
  if (coalesced_.has_value()) coalesced_->push_back(work);
  return work;
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::started_collective(const IsthmusWorkPtr& work) {
  ++collective_count_;
  return started(work);
}

ProcessGroupIsthmus::WorkPtr ProcessGroupIsthmus::launch_nothing(WorkIsthmus::Call call) {
  return started_collective(c10::make_intrusive<WorkIsthmus>(communicator_, std::move(call)));
}

isthmus_call_options ProcessGroupIsthmus::call_options(std::chrono::milliseconds timeout) const {
  isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options);
  options.timeout_ms = timeout.count() > 0 ? timeout.count() : timeout_ms_.load();
  options.priority = options_->priority;
  return options;
}

}  // namespace isthmus::torch_binding
