#include "runtime/transport/loopback/listener.h"

namespace isthmus {

Result<std::uint64_t> LoopbackFabric::listen(const ListenOptions& options, std::shared_ptr<LoopbackMailbox> mailbox) {
  std::lock_guard lock(mutex_);
  if (options.port_low == 0 && options.port_high == 0) {
    listeners_.emplace(next_number_, std::move(mailbox));
    return next_number_++;
  }
  for (std::uint64_t number = options.port_low; number <= options.port_high; ++number) {
    if (listeners_.try_emplace(number, mailbox).second) return number;
  }
  return unavailable("no free port for the data listener in the range {}-{} of the loopback fabric", options.port_low,
                     options.port_high);
}

std::shared_ptr<LoopbackMailbox> LoopbackFabric::find(std::uint64_t number) const {
  std::lock_guard lock(mutex_);
  const auto found = listeners_.find(number);
  return found == listeners_.end() ? nullptr : found->second;
}

std::uint64_t LoopbackFabric::new_number() {
  std::lock_guard lock(mutex_);
  return next_number_++;
}

void LoopbackFabric::remove(const LoopbackMailbox* mailbox) {
  std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [mailbox](const auto& listener) { return listener.second.get() == mailbox; });
}

}  // namespace isthmus
