#include "collectives/joint_completion.h"

namespace isthmus {

std::shared_ptr<JointCompletion> JointCompletion::create(std::size_t parts,
                                                         std::function<void(const Status&)> on_done) {
  if (parts == 0) on_done(Status());
  return std::shared_ptr<JointCompletion>(new JointCompletion(parts, std::move(on_done)));
}

void JointCompletion::part_ended(const Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    if (--parts_left_ > 0) return;
  }
  on_done_(first_error_);
}

}  // namespace isthmus
