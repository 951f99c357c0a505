// LoopbackFabric: who listens where, among the loopback transports of one process that share it.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/transport/loopback/mailbox.h"
#include "runtime/transport/transport.h"

namespace isthmus {

class LoopbackFabric {
 public:
  // The number of a new listener. Port ranges are kept: they are numbers of the same kind.
  Result<std::uint64_t> listen(const ListenOptions& options, std::shared_ptr<LoopbackMailbox> mailbox);

  // Null when nobody listens there.
  std::shared_ptr<LoopbackMailbox> find(std::uint64_t number) const;

  // A number for the dialling end of a lane.
  std::uint64_t new_number();

  // Forgets all listeners of the mailbox.
  void remove(const LoopbackMailbox* mailbox);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<LoopbackMailbox>> listeners_;  // guarded by mutex_
  std::uint64_t next_number_ = 65536;  // guarded by mutex_; above the ports, which belong to ranges
};

}  // namespace isthmus
