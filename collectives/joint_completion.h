// JointCompletion: tells once when several operations have all ended, with the first error among them.
//
// Threads: any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "runtime/base/status.h"

namespace isthmus {

class JointCompletion {
 public:
  // `on_done` is called within the last part_ended(); within create() when there are no parts.
  static std::shared_ptr<JointCompletion> create(std::size_t parts, std::function<void(const Status&)> on_done);

  void part_ended(const Status& status);

 private:
  JointCompletion(std::size_t parts, std::function<void(const Status&)> on_done)
      : parts_left_(parts), on_done_(std::move(on_done)) {}

  std::mutex mutex_;
  std::size_t parts_left_;
  Status first_error_;
  const std::function<void(const Status&)> on_done_;
};

}  // namespace isthmus
