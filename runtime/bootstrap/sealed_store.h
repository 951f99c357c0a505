// SealedStore: a store that others can read and write, used so that they learn and forge nothing: values are sealed
// under a key of the job's secret, with the group and the name of their key. Counters stay as they are: who can write
// the store can delay a group, not join it.
//
// A sealed value: 16 bytes of magic, 32 of salt, the value under AES-256-GCM with the key of that salt, 16 of tag.
//
// Threads: one thread at a time per object.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/bootstrap/store.h"
#include "runtime/security/job_secret.h"

namespace isthmus {

inline constexpr std::string_view kSealedMagic = "ISTHMUS-SEALED-1";

class SealedStore final : public Store {
 public:
  // `store` outlives this object.
  SealedStore(Store* store, const JobSecret& secret, std::string group)
      : store_(store), secret_(secret), group_(std::move(group)) {}

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override;
  // invalid_argument: the value was written by somebody without the secret.
  Result<std::string> get(std::string_view key, TimePoint deadline) override;
  Result<bool> contains(std::string_view key, TimePoint deadline) override { return store_->contains(key, deadline); }
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override {
    return store_->add(key, delta, deadline);
  }
  Status remove(std::string_view key, TimePoint deadline) override { return store_->remove(key, deadline); }
  Result<std::unique_ptr<Store>> clone() override;
  std::string server_host() const override { return store_->server_host(); }

 private:
  std::string header_of(std::string_view key) const;

  std::unique_ptr<Store> owned_;  // of a clone
  Store* store_;
  const JobSecret secret_;
  const std::string group_;
};

}  // namespace isthmus
