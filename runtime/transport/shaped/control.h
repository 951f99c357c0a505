// ShapedControl: the hand on a shaped transport while it runs.
//
// Threads: any thread. A control belongs to one transport; what it sets holds from the transport's next call on, for
// messages that enter the line after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/base/fd.h"
#include "runtime/transport/shaped/line.h"
#include "runtime/transport/transport.h"

namespace isthmus {

struct Shape {
  DirectionShape out;  // from this transport to its peers
  DirectionShape in;
  std::size_t buffer_bytes = kMaxMessageBytes;  // what a lane takes before it holds senders back, as a socket does
};

struct ShapedState {
  Shape shape;
  bool cut = false;
  std::uint64_t heals = 0;  // how often heal() and reset_lanes() were called
  std::uint64_t resets = 0;
  Duration stall{0};  // of the last heal
};

class ShapedControl {
 public:
  static Result<std::shared_ptr<ShapedControl>> create(const Shape& shape);

  void set_shape(const Shape& shape);

  // Nothing moves in either direction, lanes that are being opened included, until heal().
  void cut();

  // What was under way at the cut takes its delay again. Lanes that were up stand still for `stall` longer: a stalled
  // TCP connection notices only at its next retransmission.
  void heal(Duration stall = Duration(0));

  // All lanes go down at once with `unavailable`, as by a reset from a middlebox.
  void reset_lanes();

  // Wakes a thread that sleeps on the transport, after a ManualClock was advanced.
  void wake();

  // For the transport.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  ShapedState state() const;
  const WakeFd& wake_fd() const { return wake_; }

 private:
  ShapedControl(WakeFd wake, const Shape& shape) : wake_(std::move(wake)) { state_.shape = shape; }
  template <typename Change>
  void apply(Change change);

  const WakeFd wake_;
  std::atomic<std::uint64_t> version_{1};
  mutable std::mutex mutex_;
  ShapedState state_;  // guarded by mutex_
};

}  // namespace isthmus
