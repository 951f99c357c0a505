// Link: the channel to one process across the WAN. Numbers segments, seals them, stripes them over its lanes, keeps
// each until the peer's link has acknowledged it, and sends again on other lanes what a dead or stuck one had.
//
// The link as a whole is paced to what its line carries (pacer.h). Striping is by pull: a lane takes the next segment
// while it has room, that is, while less of it is unacknowledged than its measured rate and round trip call for
// (lane_meter.h). A lane in loss recovery is acknowledged late and takes less. The first lane carries acknowledgements
// and credits only (where there is more than one): behind data they would wait for the socket's whole queue, and the
// delay that they meet is the line's own.
//
// When nothing new may be sent, idle lanes send again what is overdue on others, so that one lane's retransmission
// timeout does not hold an operation up; long overdue segments go again even before new ones.
//
// Cost: one copy per byte sent (into the frame, where it is sealed in place), one per byte received (out of the frame).
// One acknowledgement of about 120 bytes per kAckEvery segments.
//
// Threads: the progress thread. Memory: what is under way (per lane at most lane_window_bytes), kReceiveBuffersPerLane
// segments per lane, and the eager limits.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/metrics.h"
#include "runtime/link/frame_seal.h"
#include "runtime/link/lane_count.h"
#include "runtime/link/lane_meter.h"
#include "runtime/link/line_share.h"
#include "runtime/link/matching_channel.h"
#include "runtime/link/pacer.h"
#include "runtime/link/receive_window.h"
#include "runtime/link/sent_frames.h"
#include "runtime/transport/transport.h"

namespace isthmus {

struct LinkOptions {
  LaneLimits lane;  // max_segment_bytes must be equal on both sides
  // With data; equal: fixed. Each loss stalls its lane for a round trip, so the first ones are several.
  int first_lanes = 4, most_lanes = 63;
  bool has_control_lane = true;  // one more, for acknowledgements and credits
  EagerLimits eager;
  Duration ack_delay = std::chrono::milliseconds(1);
};

class Link final : public MatchingChannel {
 public:
  static constexpr int kAckEvery = 8;  // segments
  static constexpr int kReceiveBuffersPerLane = 8;

  // `name`: the peer in messages, "rank 3 (site b)". `transport`, `traffic` and `share` outlive the link.
  Link(const LinkOptions& options, const Clock* clock, Transport* transport, Traffic* traffic, LineShare* share,
       std::string name, std::uint32_t epoch);

  ~Link() override { share_->leave(&part_); }

  bool drained() const override { return outbound_.empty() && sent_.empty(); }

  // One incarnation; every frame carries it and frames of another are refused. Set once, before the first lane, with
  // what seals its frames.
  void begin_session(std::uint64_t session, FrameSeal seal);
  std::uint64_t session() const { return session_; }

  // Events of the transport for lanes of this link.
  void lane_up(LaneId lane, std::uint32_t serial);  // the serial names it on both sides
  void lane_down(LaneId lane);
  void on_sent(LaneId lane, std::uint64_t token);
  void on_received(LaneId lane, std::uint64_t token, std::size_t bytes, const Status& status);

  // Sends what may be sent now. Returns whether anything was.
  bool pump();
  TimePoint next_due() const;

  // Since when the peer owes an acknowledgement and nothing at all was heard from it; kNever: it owes none.
  TimePoint silent_since() const;
  // After such a silence something is wrong with the path: the longest time that an acknowledgement should take.
  Duration patience() const;

  std::uint64_t delivered_bytes() const { return delivered_bytes_; }  // acknowledged by the peer

  int wanted_lanes() const { return lane_count_.count() + (options_.has_control_lane ? 1 : 0); }
  const std::string& name() const { return name_; }
  std::size_t lane_count() const { return lanes_.size(); }
  std::vector<LaneId> lane_ids() const;

 private:
  struct ReceiveBuffer {
    std::vector<std::byte> bytes;
  };
  struct Lane {
    LaneId id = 0;
    std::uint32_t serial = 0;
    LaneMeter meter;
    LaneDelayMeter delay;
    bool is_full = false;      // refused a post since its last kSent
    bool owes_report = false;  // to the peer, of the least delay of what came
    std::uint32_t delay_us = 0;
    std::vector<std::unique_ptr<ReceiveBuffer>> buffers;
  };

  Lane* find_lane(LaneId id);
  std::size_t data_lane_count() const;
  std::span<Lane> data_lanes();
  std::uint64_t under_way_bytes() const;
  std::uint64_t retransmissions() const;
  bool may_resend() const;  // something may be overdue, and there is another lane for it
  Lane* lane_with_room(LaneId except = 0);
  Lane* lane_for_control();
  OutFrame* next_frame(const Lane& lane);
  OutFrame* frame_of(const OutboundSegment& segment);
  bool post(Lane& lane, OutFrame* frame);
  bool pump_frames(TimePoint now);
  bool pump_credits();
  void pace(TimePoint now);
  void limit_lanes();
  bool looks_for_overdue(TimePoint now);
  bool resend_overdue(bool only_long);
  bool resend(OutFrame* frame, TimePoint now, bool only_long);
  void drop_copy(OutFrame* frame, FrameCopy& copy);
  bool send_acknowledgement();
  void post_receive(Lane& lane, ReceiveBuffer* buffer);
  Status on_frame(Lane& lane, ConstBytes frame);
  void note_delay(Lane& lane, std::uint32_t sent_us);
  Acknowledgement acknowledgement() const;
  std::uint32_t now_us() const;
  Status on_acknowledgement(const Frame& frame);
  void acknowledged(OutFrame* frame);
  void on_bad_frame(LaneId lane, const Status& why);

  const LinkOptions options_;
  const Clock* const clock_;
  Transport* const transport_;
  Traffic* const traffic_;
  LineShare* const share_;
  LineShare::Part part_;
  const std::string name_;
  const std::uint32_t epoch_;
  std::uint64_t session_ = 0;
  FrameSeal seal_{nullptr};

  ReceiveWindow arrived_;
  int arrivals_to_acknowledge_ = 0;
  TimePoint acknowledge_at_ = kNever, probe_at_ = kNever;
  std::uint64_t next_acknowledgement_ = 1;

  std::vector<Lane> lanes_;  // in the order in which they came up
  Pacer pacer_;
  SentFrames sent_;
  std::deque<OutFrame*> waiting_;  // kept, and on no lane (first try refused, or its lane died)
  LaneCount lane_count_;
  std::uint64_t delivered_bytes_ = 0;
  TimePoint heard_at_{}, owing_since_{};
  TimePoint look_for_overdue_at_{};
};

}  // namespace isthmus
