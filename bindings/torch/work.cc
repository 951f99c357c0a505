#include "bindings/torch/work.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Logging.h>
#include <unistd.h>

#include <utility>

#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {
namespace {

struct CompletionContext {
  c10::intrusive_ptr<WorkIsthmus> work;
  std::shared_ptr<Communicator> communicator;
};

c10::intrusive_ptr<c10::ivalue::Future> new_future() {
  return c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
}

}  // namespace

WorkIsthmus::WorkIsthmus(std::shared_ptr<Communicator> communicator, Call call)
    : Work(call.rank, call.type, call.title, std::move(call.inputs)),
      communicator_(std::move(communicator)),
      owner_(::getpid()),
      operation_(call.operation),
      any_source_(call.any_source),
      source_rank_(call.source_rank),
      outputs_(std::move(call.outputs)),
      staging_(std::move(call.staging)),
      future_(new_future()) {}

void WorkIsthmus::watch(const c10::intrusive_ptr<WorkIsthmus>& work, isthmus_work* handle) {
  const std::shared_ptr<isthmus_work> owned(handle, isthmus_work_destroy);
  if (work->any_source_) work->receive_ = owned;
  std::uint64_t none = 0;
  work->sequence_.compare_exchange_strong(none, isthmus_work_sequence(handle));
  ++work->open_count_;
  work->communicator_->began();
  auto context = std::make_unique<CompletionContext>(CompletionContext{work, work->communicator_});
  const isthmus_status status = isthmus_work_on_complete(handle, on_complete, context.get());
  if (status == ISTHMUS_OK) {
    context.release();
  } else {
    on_complete(context.release(), status, isthmus_last_error());
  }
}

void WorkIsthmus::on_complete(void* context, isthmus_status status, const char* message) noexcept {
  const Communicator::CompletionScope scope;
  auto* completed = static_cast<CompletionContext*>(context);
  const auto communicator = completed->communicator;
  try {
    completed->work->note_source();
    completed->work->operation_ended(status == ISTHMUS_OK ? nullptr : to_exception(status, message));
  } catch (const std::exception& error) {
    LOG(ERROR) << "isthmus: a callback of a future threw: " << error.what();
  }
  delete completed;
  communicator->ended();
}

void WorkIsthmus::note_source() {
  if (receive_ != nullptr) source_rank_ = isthmus_work_source(receive_.get());
}

void WorkIsthmus::seal(const c10::intrusive_ptr<WorkIsthmus>& work) { work->operation_ended(nullptr); }

c10::intrusive_ptr<WorkIsthmus> WorkIsthmus::combine(std::shared_ptr<Communicator> communicator, Call call,
                                                     const std::vector<c10::intrusive_ptr<WorkIsthmus>>& parts) {
  for (const auto& part : parts) {
    call.outputs.insert(call.outputs.end(), part->outputs_.begin(), part->outputs_.end());
  }
  auto whole = c10::make_intrusive<WorkIsthmus>(std::move(communicator), std::move(call));
  for (const auto& part : parts) {
    ++whole->open_count_;
    part->future_->addCallback([whole](c10::ivalue::Future& future) {
      whole->operation_ended(future.hasError() ? future.exception_ptr() : nullptr);
    });
  }
  seal(whole);
  return whole;
}

void WorkIsthmus::operation_ended(std::exception_ptr error) {
  if (error != nullptr) {
    const std::scoped_lock lock(error_mutex_);
    if (first_error_ == nullptr) first_error_ = std::move(error);
  }
  if (--open_count_ == 0) complete();
}

void WorkIsthmus::complete() {
  std::exception_ptr error = first_error_;
  try {
    if (error == nullptr) staging_.finish();
  } catch (...) {
    error = std::current_exception();
  }
  staging_ = Staging();
  // The future comes second, so that its callbacks find the work completed; wait() returns after both.
  finish(error);
  if (error != nullptr) {
    future_->setError(error);
  } else {
    future_->markCompleted(c10::IValue(outputs_));
  }
}

bool WorkIsthmus::wait(std::chrono::milliseconds timeout) {
  if (owner_ != ::getpid())
    throw_status(ISTHMUS_UNAVAILABLE, std::string(operation_) + ": waited for in a forked process");
  std::unique_lock lock(mutex_);
  const auto completed = [this] { return completed_; };
  if (timeout.count() <= 0) {
    cv_.wait(lock, completed);
  } else if (!cv_.wait_for(lock, timeout, completed)) {
    throw_status(ISTHMUS_DEADLINE_EXCEEDED, std::string(operation_) + ": wait gave up after " +
                                                std::to_string(timeout.count()) +
                                                " ms; the operation is still in flight and may be waited for again");
  }
  if (exception_ != nullptr) std::rethrow_exception(exception_);
  lock.unlock();
  future_->wait();
  return true;
}

std::vector<at::Tensor> WorkIsthmus::result() {
  TORCH_CHECK(isCompleted(), "isthmus: ", operation_, ": result() before the work is completed");
  return outputs_;
}

int WorkIsthmus::sourceRank() const {
  const int source = source_rank_;
  return source >= 0 ? source : Work::sourceRank();
}

std::uint64_t WorkIsthmus::getSequencenumber() const { return sequence_; }

}  // namespace isthmus::torch_binding
