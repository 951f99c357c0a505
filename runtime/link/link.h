// Link: the channel to one process across the WAN. Numbers segments, stripes them over its lanes, keeps each until the
// peer's link has acknowledged it, and puts what a dead lane had on the others.
//
// Striping is by pull: a lane takes the next segment when it has room, that is, less than lane_window_bytes that the
// peer has not acknowledged. A lane in loss recovery is acknowledged late and so takes less.
//
// Cost: one copy per byte sent (into the frame, which is what a resend needs and where sealing belongs), one per byte
// received (out of the frame). One acknowledgement of about 100 bytes per kAckEvery segments.
//
// Threads: the progress thread. Memory: lanes x (lane_window_bytes + receive buffers) + the eager limits.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/metrics.h"
#include "runtime/link/frame.h"
#include "runtime/link/matching_channel.h"
#include "runtime/link/receive_window.h"
#include "runtime/transport/transport.h"

namespace isthmus {

struct LinkOptions {
  std::size_t segment_bytes = 32 * 1024;  // payload of a frame at most; equal on both sides
  std::uint64_t lane_window_bytes = 4 * 1024 * 1024;
  EagerLimits eager;
  Duration ack_delay = std::chrono::milliseconds(1);
};

class Link final : public MatchingChannel {
 public:
  static constexpr int kAckEvery = 8;  // segments
  static constexpr int kReceiveBuffersPerLane = 8;

  // `name`: the peer in messages, "rank 3 (site b)". `transport` and `traffic` outlive the link's lanes.
  Link(const LinkOptions& options, const Clock* clock, Transport* transport, Traffic* traffic, std::string name,
       std::uint32_t epoch);

  bool drained() const override { return outbound_.empty() && unacknowledged_.empty(); }

  // One incarnation; every frame carries it and frames of another are refused. Set before the first lane.
  void set_session(std::uint64_t session) { session_ = session; }
  std::uint64_t session() const { return session_; }

  // Events of the transport for lanes of this link.
  void lane_up(LaneId lane);
  void lane_down(LaneId lane);
  void on_sent(LaneId lane, std::uint64_t token);
  void on_received(LaneId lane, std::uint64_t token, std::size_t bytes, const Status& status);

  // Sends what may be sent now. Returns whether anything was.
  bool pump();
  TimePoint next_due() const;

  const std::string& name() const { return name_; }
  std::size_t lane_count() const { return lanes_.size(); }
  const std::vector<LaneId> lane_ids() const;

 private:
  struct OutFrame {
    std::vector<std::byte> bytes;
    std::uint64_t segment = 0;  // 0: not kept for resending
    LaneId lane = 0;            // 0: waits for a lane
    bool posted = false;        // the transport still reads it
    bool acknowledged = false;
  };
  struct ReceiveBuffer {
    std::vector<std::byte> bytes;
  };
  struct Lane {
    LaneId id = 0;
    std::uint64_t in_flight_bytes = 0;  // posted and not acknowledged
    bool is_full = false;               // refused a post since its last kSent
    std::vector<std::unique_ptr<ReceiveBuffer>> buffers;
  };

  Lane* find_lane(LaneId id);
  Lane* lane_with_room();
  OutFrame* next_frame();
  OutFrame* take_frame(std::size_t bytes);
  bool post(Lane& lane, OutFrame* frame);
  void release(OutFrame* frame);
  bool send_acknowledgement();
  void post_receive(Lane& lane, ReceiveBuffer* buffer);
  Status on_frame(ConstBytes message);
  Status on_acknowledgement(const Frame& frame);
  void acknowledge(OutFrame* frame);

  const LinkOptions options_;
  const Clock* const clock_;
  Transport* const transport_;
  Traffic* const traffic_;
  const std::string name_;
  const std::uint32_t epoch_;
  std::uint64_t session_ = 0;

  ReceiveWindow arrived_;
  int arrivals_to_acknowledge_ = 0;
  TimePoint acknowledge_at_ = kNever;

  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<OutFrame>> frames_;  // all of them
  std::vector<OutFrame*> free_frames_;
  std::uint64_t next_segment_ = 1;
  std::deque<OutFrame*> unacknowledged_;    // ascending segment numbers; nullptr: acknowledged out of order
  std::uint64_t first_unacknowledged_ = 1;  // segment number of unacknowledged_.front()
  std::deque<OutFrame*> waiting_;           // framed, and without a lane (first try refused, or lane died)
};

}  // namespace isthmus
