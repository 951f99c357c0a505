#include "bindings/c/handles.h"

using isthmus::c_api::guard;

isthmus_status isthmus_runtime_create(const isthmus_options* options, isthmus_runtime** runtime) {
  return guard([&]() -> isthmus::Status {
    if (runtime == nullptr) return isthmus::invalid_argument("isthmus_runtime_create: runtime is null");
    *runtime = nullptr;
    auto created = isthmus::Runtime::create(options != nullptr ? options->values : isthmus::Options());
    ISTHMUS_RETURN_IF_ERROR(created.status());
    *runtime = new isthmus_runtime{std::move(created).value()};
    return isthmus::Status();
  });
}

void isthmus_runtime_destroy(isthmus_runtime* runtime) { delete runtime; }

isthmus_status isthmus_runtime_counters(isthmus_runtime* runtime, isthmus_counters* counters) {
  return guard([&]() -> isthmus::Status {
    if (runtime == nullptr || counters == nullptr)
      return isthmus::invalid_argument("isthmus_runtime_counters: runtime or counters is null");
    ISTHMUS_RETURN_IF_ERROR(runtime->runtime->check_process());
    ISTHMUS_ASSIGN_OR_RETURN(isthmus_counters filled, isthmus::c_api::read_struct(counters, "isthmus_counters"));
    const isthmus::RuntimeCounters& values = runtime->runtime->counters();
    filled.wan_sent_bytes = values.wan.sent_bytes.value();
    filled.wan_received_bytes = values.wan.received_bytes.value();
    filled.site_sent_bytes = values.site.sent_bytes.value();
    filled.site_received_bytes = values.site.received_bytes.value();
    filled.operations_completed = values.operations_completed.value();
    filled.operations_failed = values.operations_failed.value();
    filled.struct_size = counters->struct_size;
    std::memcpy(counters, &filled, std::min(counters->struct_size, sizeof(filled)));
    return isthmus::Status();
  });
}
