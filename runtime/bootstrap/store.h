// Store: the small key-value service through which the processes of a group find each other.
//
// Threads: one thread at a time per object; clone() gives another thread its own. A store is used only while a group is
// constructed. Every call ends by its deadline with deadline_exceeded, which names the key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace isthmus {

class Store {
 public:
  virtual ~Store() = default;

  virtual Status set(std::string_view key, std::string_view value, TimePoint deadline) = 0;

  // Waits until the key exists.
  virtual Result<std::string> get(std::string_view key, TimePoint deadline) = 0;

  // Whether the key exists now; does not wait for it.
  virtual Result<bool> contains(std::string_view key, TimePoint deadline) = 0;

  // Adds to a decimal counter (absent: 0) and returns the sum.
  virtual Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) = 0;

  virtual Status remove(std::string_view key, TimePoint deadline) = 0;

  // An independent connection to the same service.
  virtual Result<std::unique_ptr<Store>> clone() = 0;

  // The numeric address of the host that serves the keys; empty where there is none, or it is not known.
  virtual std::string server_host() const { return {}; }
};

}  // namespace isthmus
