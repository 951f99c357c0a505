#include "runtime/bootstrap/callback_store.h"

namespace isthmus {
namespace {

// What is left, or the error that nothing is.
Result<Duration> time_left(std::string_view call, std::string_view key, TimePoint deadline) {
  const Duration left = deadline - SteadyClock::instance().now();
  if (left > Duration::zero()) return left;
  return deadline_exceeded("no time is left to {} key \"{}\" of the store", call, key);
}

Status name_key(const Status& status, std::string_view call, std::string_view key) {
  return status.with_context(fmt::format("{} of key \"{}\" in the caller's store", call, key));
}

}  // namespace

Result<std::unique_ptr<CallbackStore>> CallbackStore::create(StoreFunctions functions) {
  if (!functions.set) return invalid_argument("a store needs the callback set");
  if (!functions.get) return invalid_argument("a store needs the callback get");
  if (!functions.contains) return invalid_argument("a store needs the callback contains");
  if (!functions.add) return invalid_argument("a store needs the callback add");
  auto shared = std::make_shared<const StoreFunctions>(std::move(functions));
  return std::unique_ptr<CallbackStore>(new CallbackStore(std::move(shared)));
}

Status CallbackStore::set(std::string_view key, std::string_view value, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration left, time_left("set", key, deadline));
  return name_key(functions_->set(key, value, left), "set", key);
}

Result<std::string> CallbackStore::get(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration left, time_left("get", key, deadline));
  Result<std::string> value = functions_->get(key, left);
  if (!value.ok()) return name_key(value.status(), "get", key);
  return value;
}

Result<bool> CallbackStore::contains(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration left, time_left("look for", key, deadline));
  const Result<bool> found = functions_->contains(key, left);
  if (!found.ok()) return name_key(found.status(), "contains", key);
  return found;
}

Result<std::int64_t> CallbackStore::add(std::string_view key, std::int64_t delta, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Duration left, time_left("add to", key, deadline));
  const Result<std::int64_t> sum = functions_->add(key, delta, left);
  if (!sum.ok()) return name_key(sum.status(), "add", key);
  return sum;
}

Status CallbackStore::remove(std::string_view key, TimePoint deadline) {
  if (!functions_->remove) return unsupported("the caller's store cannot remove keys (\"{}\")", key);
  ISTHMUS_ASSIGN_OR_RETURN(const Duration left, time_left("remove", key, deadline));
  return name_key(functions_->remove(key, left), "remove", key);
}

Result<std::unique_ptr<Store>> CallbackStore::clone() { return std::unique_ptr<Store>(new CallbackStore(functions_)); }

}  // namespace isthmus
