// PrefixStore: a part of another store, whose keys all begin alike; so that two groups do not meet.
//
// Threads: one thread at a time per object.
#pragma once

#include <memory>
#include <string>

#include "runtime/bootstrap/store.h"

namespace isthmus {

class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::unique_ptr<Store> store)
      : prefix_(std::move(prefix)), store_(std::move(store)) {}

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override {
    return store_->set(full(key), value, deadline);
  }
  Result<std::string> get(std::string_view key, TimePoint deadline) override {
    return store_->get(full(key), deadline);
  }
  Result<bool> contains(std::string_view key, TimePoint deadline) override {
    return store_->contains(full(key), deadline);
  }
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override {
    return store_->add(full(key), delta, deadline);
  }
  Status remove(std::string_view key, TimePoint deadline) override { return store_->remove(full(key), deadline); }
  Result<std::unique_ptr<Store>> clone() override;
  std::string server_host() const override { return store_->server_host(); }

 private:
  std::string full(std::string_view key) const { return prefix_ + std::string(key); }

  std::string prefix_;
  std::unique_ptr<Store> store_;
};

}  // namespace isthmus
