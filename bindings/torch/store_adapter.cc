#include "bindings/torch/store_adapter.h"

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {
namespace {

using Clock = std::chrono::steady_clock;

struct Adapter {
  c10::intrusive_ptr<c10d::Store> store;
  std::string last_error;
};

c10::intrusive_ptr<c10d::Store> clone_or_self(const c10::intrusive_ptr<c10d::Store>& store) {
  try {
    return store->clone();
  } catch (const std::exception&) {
    return store;  // classes written in Python need not have clone(): construction alone uses the store meanwhile
  }
}

const char* message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

// No exception may cross the C API. The kinds of store signal a timeout in different ways: what counts is the clock.
template <typename Action>
isthmus_status guarded(void* context, int64_t timeout_ms, Action action) {
  auto& adapter = *static_cast<Adapter*>(context);
  const std::chrono::milliseconds limit(timeout_ms);
  const auto start = Clock::now();
  try {
    action(*adapter.store, limit);
    return ISTHMUS_OK;
  } catch (const std::exception& error) {
    adapter.last_error = std::string("torch store: ") + message_of(error);
  } catch (...) {
    adapter.last_error = "torch store: an exception of unknown type";
  }
  return Clock::now() - start >= limit ? ISTHMUS_DEADLINE_EXCEEDED : ISTHMUS_UNAVAILABLE;
}

isthmus_status set(void* context, const char* key, const void* value, size_t value_bytes, int64_t timeout_ms) {
  return guarded(context, timeout_ms, [&](c10d::Store& store, std::chrono::milliseconds) {
    const auto* first = static_cast<const uint8_t*>(value);
    store.set(key, std::vector<uint8_t>(first, first + value_bytes));
  });
}

isthmus_status get(void* context, const char* key, int64_t timeout_ms,
                   void (*sink)(void* sink_context, const void* value, size_t value_bytes), void* sink_context) {
  std::vector<uint8_t> value;
  const auto status = guarded(context, timeout_ms, [&](c10d::Store& store, std::chrono::milliseconds limit) {
    store.wait({key}, limit);
    value = store.get(key);
  });
  if (status == ISTHMUS_OK) sink(sink_context, value.data(), value.size());
  return status;
}

isthmus_status contains(void* context, const char* key, int64_t timeout_ms, int* found) {
  return guarded(context, timeout_ms,
                 [&](c10d::Store& store, std::chrono::milliseconds) { *found = store.check({key}) ? 1 : 0; });
}

isthmus_status add(void* context, const char* key, int64_t delta, int64_t timeout_ms, int64_t* sum) {
  return guarded(context, timeout_ms,
                 [&](c10d::Store& store, std::chrono::milliseconds) { *sum = store.add(key, delta); });
}

isthmus_status remove(void* context, const char* key, int64_t timeout_ms) {
  return guarded(context, timeout_ms, [&](c10d::Store& store, std::chrono::milliseconds) { store.deleteKey(key); });
}

const char* last_error(void* context) { return static_cast<Adapter*>(context)->last_error.c_str(); }

void release(void* context) { delete static_cast<Adapter*>(context); }

}  // namespace

StoreHandle adapt_store(const c10::intrusive_ptr<c10d::Store>& store) {
  TORCH_CHECK_VALUE(store.defined(), "isthmus: a process group needs a store");
  isthmus_store_callbacks callbacks = ISTHMUS_INIT(isthmus_store_callbacks);
  auto adapter = std::make_unique<Adapter>(Adapter{clone_or_self(store), {}});
  callbacks.context = adapter.get();
  callbacks.set = set;
  callbacks.get = get;
  callbacks.contains = contains;
  callbacks.add = add;
  callbacks.remove = remove;
  callbacks.last_error = last_error;
  callbacks.release = release;
  isthmus_store* handle = nullptr;
  check_status(isthmus_store_create_callback(&callbacks, &handle));
  adapter.release();
  return StoreHandle(handle);
}

}  // namespace isthmus::torch_binding
