#include "runtime/transport/loopback/mailbox.h"

namespace isthmus {

Result<std::shared_ptr<LoopbackMailbox>> LoopbackMailbox::create() {
  ISTHMUS_ASSIGN_OR_RETURN(WakeFd wake, WakeFd::create());
  return std::shared_ptr<LoopbackMailbox>(new LoopbackMailbox(std::move(wake)));
}

bool LoopbackMailbox::post(LoopbackMail mail) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  mail_.push(std::move(mail));
  if (std::exchange(armed_, false)) wake_.signal();
  return true;
}

bool LoopbackMailbox::take(LoopbackMail* mail) {
  std::lock_guard lock(mutex_);
  if (mail_.empty()) return false;
  *mail = mail_.pop();
  return true;
}

bool LoopbackMailbox::arm() {
  std::lock_guard lock(mutex_);
  if (!mail_.empty()) return false;
  wake_.drain();
  armed_ = true;
  return true;
}

std::vector<std::shared_ptr<LoopbackWire>> LoopbackMailbox::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  std::vector<std::shared_ptr<LoopbackWire>> offered;
  while (!mail_.empty()) {
    LoopbackMail mail = mail_.pop();
    if (mail.wire) offered.push_back(std::move(mail.wire));
  }
  return offered;
}

}  // namespace isthmus
