// The events of one loopback transport, posted by whichever thread causes them.
//
// Threads: any thread; take(), arm() and close() by the transport that owns the mailbox.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/fd.h"
#include "runtime/transport/ring_queue.h"
#include "runtime/transport/transport.h"

namespace isthmus {

class LoopbackWire;

struct LoopbackMail {
  TransportEvent event;
  std::shared_ptr<LoopbackWire> wire;  // kLaneAccepted: what the new lane is an end of
};

class LoopbackMailbox {
 public:
  static Result<std::shared_ptr<LoopbackMailbox>> create();

  // False once the owner is gone: the mail is dropped.
  bool post(LoopbackMail mail);

  // False when there is none.
  bool take(LoopbackMail* mail);

  // False when there is mail. Else the next post() makes wait_fd() readable.
  bool arm();

  // Drops all mail to come and returns the wires that were offered but not taken.
  std::vector<std::shared_ptr<LoopbackWire>> close();

  LaneId new_lane_id() { return next_lane_.fetch_add(1, std::memory_order_relaxed); }
  int wait_fd() const { return wake_.get(); }

 private:
  explicit LoopbackMailbox(WakeFd wake) : wake_(std::move(wake)) {}

  const WakeFd wake_;
  std::atomic<LaneId> next_lane_{1};
  std::mutex mutex_;
  RingQueue<LoopbackMail> mail_;  // guarded by mutex_, as all below
  bool armed_ = false;
  bool closed_ = false;
};

}  // namespace isthmus
