#include <chrono>

#include "bindings/c/handles.h"

using isthmus::c_api::guard;

isthmus_status isthmus_work_wait(isthmus_work* work, int64_t timeout_ms) {
  return guard([&]() -> isthmus::Status {
    if (work == nullptr) return isthmus::invalid_argument("isthmus_work_wait: work is null");
    ISTHMUS_RETURN_IF_ERROR(work->work->check_process());
    return work->work->wait(timeout_ms < 0 ? isthmus::Duration(-1) : isthmus::duration_of_ms(timeout_ms));
  });
}

isthmus_status isthmus_work_test(isthmus_work* work, int* done) {
  return guard([&]() -> isthmus::Status {
    if (work == nullptr || done == nullptr) return isthmus::invalid_argument("isthmus_work_test: work or done is null");
    ISTHMUS_RETURN_IF_ERROR(work->work->check_process());
    *done = work->work->done() ? 1 : 0;
    return isthmus::Status();
  });
}

isthmus_status isthmus_work_status(isthmus_work* work) {
  return guard([&]() -> isthmus::Status {
    if (work == nullptr) return isthmus::invalid_argument("isthmus_work_status: work is null");
    ISTHMUS_RETURN_IF_ERROR(work->work->check_process());
    return work->work->status();
  });
}

isthmus_status isthmus_work_abort(isthmus_work* work) {
  return guard([&]() -> isthmus::Status {
    if (work == nullptr) return isthmus::invalid_argument("isthmus_work_abort: work is null");
    ISTHMUS_RETURN_IF_ERROR(work->work->check_process());
    work->work->abort();
    return isthmus::Status();
  });
}

uint64_t isthmus_work_sequence(const isthmus_work* work) { return work == nullptr ? 0 : work->work->sequence(); }

int isthmus_work_source(const isthmus_work* work) { return work == nullptr ? -1 : work->work->source(); }

isthmus_status isthmus_work_on_complete(isthmus_work* work, isthmus_work_callback callback, void* context) {
  return guard([&]() -> isthmus::Status {
    if (work == nullptr || callback == nullptr)
      return isthmus::invalid_argument("isthmus_work_on_complete: work or callback is null");
    ISTHMUS_RETURN_IF_ERROR(work->work->check_process());
    return work->work->on_complete([callback, context](const isthmus::Status& status) {
      callback(context, static_cast<isthmus_status>(status.code()), status.message().c_str());
    });
  });
}

void isthmus_work_destroy(isthmus_work* work) { delete work; }
