// MemoryStore: a store inside one process, for worlds of threads.
//
// Threads: one thread at a time per object; clones share the keys and may be used by other threads.
#pragma once

#include <memory>
#include <string>

#include "runtime/bootstrap/store.h"

namespace isthmus {

class MemoryStore final : public Store {
 public:
  MemoryStore();  // with no keys
  // Shares its keys with every other store of this name that is alive.
  static std::unique_ptr<MemoryStore> named(const std::string& name);

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override;
  Result<std::string> get(std::string_view key, TimePoint deadline) override;
  Result<bool> contains(std::string_view key, TimePoint deadline) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override;
  Status remove(std::string_view key, TimePoint deadline) override;
  Result<std::unique_ptr<Store>> clone() override;

 private:
  struct Shared;
  explicit MemoryStore(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace isthmus
