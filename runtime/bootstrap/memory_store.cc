#include "runtime/bootstrap/memory_store.h"

#include <condition_variable>
#include <map>
#include <mutex>

#include "runtime/bootstrap/key_table.h"

namespace isthmus {

struct MemoryStore::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  KeyTable table;
};

MemoryStore::MemoryStore() : MemoryStore(std::make_shared<Shared>()) {}
MemoryStore::MemoryStore(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

std::unique_ptr<MemoryStore> MemoryStore::named(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Shared>> stores;
  const std::lock_guard lock(mutex);
  std::erase_if(stores, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<Shared> shared = stores[name].lock();
  if (shared == nullptr) stores[name] = shared = std::make_shared<Shared>();
  return std::unique_ptr<MemoryStore>(new MemoryStore(std::move(shared)));
}

Status MemoryStore::set(std::string_view key, std::string_view value, TimePoint) {
  const std::lock_guard lock(shared_->mutex);
  shared_->table.set(key, value);
  shared_->changed.notify_all();
  return Status();
}

Result<std::string> MemoryStore::get(std::string_view key, TimePoint deadline) {
  std::unique_lock lock(shared_->mutex);
  const auto present = [&] { return shared_->table.find(key) != nullptr; };
  if (!shared_->changed.wait_until(lock, deadline, present)) {
    return deadline_exceeded("no key \"{}\" was set in this process's store in time", key);
  }
  return *shared_->table.find(key);
}

Result<bool> MemoryStore::contains(std::string_view key, TimePoint) {
  const std::lock_guard lock(shared_->mutex);
  return shared_->table.find(key) != nullptr;
}

Result<std::int64_t> MemoryStore::add(std::string_view key, std::int64_t delta, TimePoint) {
  const std::lock_guard lock(shared_->mutex);
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t sum, shared_->table.sum(key, delta));
  shared_->table.set(key, fmt::format("{}", sum));
  shared_->changed.notify_all();
  return sum;
}

Status MemoryStore::remove(std::string_view key, TimePoint) {
  const std::lock_guard lock(shared_->mutex);
  shared_->table.remove(key);
  return Status();
}

Result<std::unique_ptr<Store>> MemoryStore::clone() { return std::unique_ptr<Store>(new MemoryStore(shared_)); }

}  // namespace isthmus
