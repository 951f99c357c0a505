#include "bindings/torch/connect.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/torch/exceptions.h"
#include "bindings/torch/process_runtime.h"
#include "bindings/torch/store_adapter.h"

namespace isthmus::torch_binding {
namespace {

int global_rank(int rank, const GroupOptions& options) {
  const auto& ranks = options.global_ranks_in_group;
  const auto index = static_cast<size_t>(rank);
  return index < ranks.size() ? static_cast<int>(ranks[index]) : rank;
}

std::int64_t connect_timeout_ms(const GroupOptions& options, const ProcessRuntime& runtime) {
  if (options.connect_timeout.count() > 0) return options.connect_timeout.count();
  return std::min<std::int64_t>(options.timeout.count(), runtime.connect_timeout_ms());
}

std::string group_name(const GroupOptions& options) {
  return options.group_name.empty() ? "world" : options.group_name;
}

// `name` must outlive the result.
isthmus_communicator_options communicator_options(const GroupOptions& options, const std::string& name,
                                                  const ProcessRuntime& runtime) {
  isthmus_communicator_options result = ISTHMUS_INIT(isthmus_communicator_options);
  result.name = name.c_str();
  result.timeout_ms = options.timeout.count();
  result.connect_timeout_ms = connect_timeout_ms(options, runtime);
  return result;
}

}  // namespace

std::shared_ptr<Communicator> connect(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                      const GroupOptions& options) {
  auto runtime = ProcessRuntime::acquire(global_rank(rank, options));
  const StoreHandle adapted = adapt_store(store);
  const std::string name = group_name(options);
  const auto given = communicator_options(options, name, *runtime);
  isthmus_communicator* handle = nullptr;
  check_status(isthmus_communicator_create(runtime->handle(), adapted.get(), rank, size, &given, &handle));
  return Communicator::adopt(std::move(runtime), handle, name);
}

std::shared_ptr<Communicator> split(Communicator& parent, int color, int key, const GroupOptions& options) {
  auto runtime = ProcessRuntime::acquire(global_rank(0, options));
  const std::string name = group_name(options);
  const auto given = communicator_options(options, name, *runtime);
  isthmus_communicator* handle = nullptr;
  parent.call([&](isthmus_communicator* communicator) {
    return isthmus_communicator_split(communicator, color, key, &given, &handle);
  });
  return handle == nullptr ? nullptr : Communicator::adopt(std::move(runtime), handle, name);
}

}  // namespace isthmus::torch_binding
