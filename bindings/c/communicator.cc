#include <chrono>

#include "bindings/c/handles.h"

using isthmus::c_api::guard;

namespace {

isthmus::Result<isthmus::CommunicatorOptions> communicator_options(const isthmus_communicator_options* from) {
  ISTHMUS_ASSIGN_OR_RETURN(const isthmus_communicator_options options,
                           isthmus::c_api::read_struct(from, "isthmus_communicator_options"));
  if (options.timeout_ms < 0 || options.connect_timeout_ms < 0)
    return isthmus::invalid_argument(
        "isthmus_communicator_options: timeout_ms {} and connect_timeout_ms {} must not be "
        "negative",
        options.timeout_ms, options.connect_timeout_ms);
  isthmus::CommunicatorOptions result;
  if (options.name != nullptr) result.name = options.name;
  result.timeout = isthmus::duration_of_ms(options.timeout_ms);
  result.connect_timeout = isthmus::duration_of_ms(options.connect_timeout_ms);
  return result;
}

}  // namespace

isthmus_status isthmus_communicator_create(isthmus_runtime* runtime, isthmus_store* store, int rank, int size,
                                           const isthmus_communicator_options* options,
                                           isthmus_communicator** communicator) {
  return guard([&]() -> isthmus::Status {
    if (runtime == nullptr || store == nullptr || communicator == nullptr)
      return isthmus::invalid_argument("isthmus_communicator_create: runtime, store or communicator is null");
    *communicator = nullptr;
    ISTHMUS_ASSIGN_OR_RETURN(const isthmus::CommunicatorOptions resolved, communicator_options(options));
    auto created = isthmus::Communicator::create(runtime->runtime.get(), *store->store, rank, size, resolved);
    ISTHMUS_RETURN_IF_ERROR(created.status());
    *communicator = new isthmus_communicator{std::move(created).value()};
    return isthmus::Status();
  });
}

isthmus_status isthmus_communicator_split(isthmus_communicator* parent, int color, int key,
                                          const isthmus_communicator_options* options,
                                          isthmus_communicator** communicator) {
  return guard([&]() -> isthmus::Status {
    if (parent == nullptr || communicator == nullptr)
      return isthmus::invalid_argument("isthmus_communicator_split: parent or communicator is null");
    *communicator = nullptr;
    ISTHMUS_ASSIGN_OR_RETURN(const isthmus::CommunicatorOptions resolved, communicator_options(options));
    auto created = parent->communicator->split(color, key, resolved);
    ISTHMUS_RETURN_IF_ERROR(created.status());
    std::unique_ptr<isthmus::Communicator> child = std::move(created).value();
    if (child) *communicator = new isthmus_communicator{std::move(child)};
    return isthmus::Status();
  });
}

isthmus_status isthmus_communicator_subset(isthmus_communicator* parent, const int* ranks, size_t rank_count,
                                           const isthmus_communicator_options* options,
                                           isthmus_communicator** communicator) {
  return guard([&]() -> isthmus::Status {
    if (parent == nullptr || ranks == nullptr || communicator == nullptr)
      return isthmus::invalid_argument("isthmus_communicator_subset: parent, ranks or communicator is null");
    *communicator = nullptr;
    ISTHMUS_ASSIGN_OR_RETURN(const isthmus::CommunicatorOptions resolved, communicator_options(options));
    auto created = parent->communicator->subset(std::span(ranks, rank_count), resolved);
    ISTHMUS_RETURN_IF_ERROR(created.status());
    *communicator = new isthmus_communicator{std::move(created).value()};
    return isthmus::Status();
  });
}

void isthmus_communicator_destroy(isthmus_communicator* communicator) { delete communicator; }

int isthmus_communicator_rank(const isthmus_communicator* communicator) {
  return communicator == nullptr ? -1 : communicator->communicator->rank();
}

int isthmus_communicator_size(const isthmus_communicator* communicator) {
  return communicator == nullptr ? -1 : communicator->communicator->size();
}

int isthmus_communicator_site_count(const isthmus_communicator* communicator) {
  return communicator == nullptr ? -1 : communicator->communicator->sites().site_count();
}

int isthmus_communicator_site_of_rank(const isthmus_communicator* communicator, int rank) {
  if (rank < 0 || rank >= isthmus_communicator_size(communicator)) return -1;
  return communicator->communicator->sites().site_of(rank);
}

const char* isthmus_communicator_site_name(const isthmus_communicator* communicator, int rank) {
  if (rank < 0 || rank >= isthmus_communicator_size(communicator)) return nullptr;
  return communicator->communicator->site_name(rank).c_str();
}

isthmus_status isthmus_communicator_status(isthmus_communicator* communicator) {
  return guard([&]() -> isthmus::Status {
    if (communicator == nullptr) return isthmus::invalid_argument("isthmus_communicator_status: communicator is null");
    return communicator->communicator->status();
  });
}

isthmus_status isthmus_communicator_abort(isthmus_communicator* communicator, const char* reason) {
  return guard([&]() -> isthmus::Status {
    if (communicator == nullptr) return isthmus::invalid_argument("isthmus_communicator_abort: communicator is null");
    return communicator->communicator->abort(reason != nullptr ? reason : "no reason given");
  });
}
