// CallbackStore: a store that somebody else implements (the C API's callbacks, torch's store).
//
// Threads: as the functions allow; the group calls them on the thread that constructs it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/bootstrap/store.h"

namespace isthmus {

// All but `remove` must be there. Each gets the time that is left, and ends within it with deadline_exceeded.
struct StoreFunctions {
  std::function<Status(std::string_view key, std::string_view value, Duration limit)> set;
  std::function<Result<std::string>(std::string_view key, Duration limit)> get;  // waits for the key
  std::function<Result<bool>(std::string_view key, Duration limit)> contains;
  std::function<Result<std::int64_t>(std::string_view key, std::int64_t delta, Duration limit)> add;
  std::function<Status(std::string_view key, Duration limit)> remove;  // empty: unsupported
};

class CallbackStore final : public Store {
 public:
  // invalid_argument names a function that is missing.
  static Result<std::unique_ptr<CallbackStore>> create(StoreFunctions functions);

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override;
  Result<std::string> get(std::string_view key, TimePoint deadline) override;
  Result<bool> contains(std::string_view key, TimePoint deadline) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override;
  Status remove(std::string_view key, TimePoint deadline) override;
  Result<std::unique_ptr<Store>> clone() override;  // with the same functions

 private:
  explicit CallbackStore(std::shared_ptr<const StoreFunctions> functions) : functions_(std::move(functions)) {}

  std::shared_ptr<const StoreFunctions> functions_;
};

}  // namespace isthmus
