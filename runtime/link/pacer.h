// Pacer: how fast a link may put segments on its lanes, all together.
//
// TCP below takes whatever it is given and pushes until a queue overflows: CUBIC by design, BBR because bunched
// acknowledgements make it overrate a line that is busy in both directions. Each overflow costs retransmissions and
// stalls. So the link offers its line no more than it carries: the queue on the way out is held at a target of some
// milliseconds, as FAST TCP does (Jin, Wei and Low, INFOCOM 2004). It is seen in the one-way delays of small frames,
// which the peer reports (as LEDBAT does, RFC 6817): how much the least delay of an epoch exceeds the least delay ever.
//
// An epoch is a round trip. With more than the target queued, what arrived tells what the line carries, and the pace
// becomes that, less what drains the excess. With less, the pace grows: quickly up to the rate that the line has shown,
// carefully beyond. At first it grows by half whenever what it lets go arrives, and there is none before a first part
// has arrived. Delay that does not fall although the pace has is the path's own, and counts as base from then on; the
// base also rises by 0.1 ms per second, as clocks drift apart.
//
// Whoever sends in bursts seldom has more to send for a whole epoch. That is as well as long as bursts fit into the
// buffers of the line. On a line that has lost packets, a queue while something was under way all the time tells what
// it carries, too; the pace grows only in epochs with enough to send.
//
// Threads: the progress thread. Cost: a few operations per segment; memory: a few words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.h"

namespace isthmus {

// The queue that the frames of one lane see.
class LaneDelayMeter {
 public:
  // The least one-way delay of some segments: the peer's clock minus ours, in microseconds modulo 2^32.
  void report(std::uint32_t delay_us, TimePoint now);

  bool has_queue() const { return has_delay_; }
  Duration queue() const;  // of this epoch; meaningful with has_queue()
  void next_epoch() { has_delay_ = false; }
  void take_as_base() { base_us_ = least_us_; }  // the delay of this epoch is the path's own

 private:
  bool has_base_ = false, has_delay_ = false;  // any delay; one in this epoch
  std::uint32_t base_us_ = 0, least_us_ = 0;
  TimePoint raised_at_{};
};

class Pacer {
 public:
  // Whether the next segment may leave.
  bool may_send(TimePoint now) const { return now >= next_send_at_; }
  TimePoint next_send_at() const { return next_send_at_; }
  void sent(std::size_t bytes, TimePoint now);

  void arrived(std::size_t bytes) { arrived_bytes_ += bytes; }  // they were acknowledged
  // At every turn: whether the link has more to send than it might, and how much is under way.
  void note_load(bool is_backlogged, std::uint64_t under_way_bytes);
  // Once per epoch, before its end: how many packets TCP has sent again, ever, on all lanes.
  void note_retransmissions(std::uint64_t packets);

  // True: call end_epoch() with the queue (negative: none was reported) and begin the meter's next one. It returns
  // whether the delay is to be taken as base. `fairness` (line_share.h) multiplies the queue that is aimed at.
  bool is_epoch_over(Duration round_trip, TimePoint now) const;
  bool end_epoch(Duration queue, Duration round_trip, double fairness, TimePoint now);

  double bytes_per_sec() const { return pace_; }  // 0: none yet
  bool is_starting() const { return is_starting_; }

 private:
  void slow_down(double rate, double excess);
  void speed_up(double rate, double missing, double fairness);
  bool is_within_burst() const;
  bool is_delay_of_path(Duration queue, double rate, double pace_before);

  double pace_ = 0, reference_ = 0;
  double line_rate_ = 0;  // what arrived while the line was busy, smoothed; 0: it never was
  TimePoint next_send_at_{}, epoch_began_{};
  std::uint64_t arrived_bytes_ = 0;
  double last_rate_ = 0, growth_ = 0.005;
  // Of the last epochs that counted, each with the one before it, so that a stall and the burst after it are one; what
  // was never sent does not count.
  double carried_[8] = {};
  std::size_t next_carried_ = 0;
  bool was_idle_ = true;                             // at some time in this epoch nothing waited to be sent
  bool was_empty_ = true, was_empty_before_ = true;  // and little was under way; in the epoch before
  std::uint64_t retransmissions_ = 0;
  bool loses_packets_ = false;  // it has lost some
  bool is_starting_ = true, was_doubted_ = false;
  int flat_epochs_ = 0, slow_epochs_ = 0, quiet_epochs_ = 0, unmoved_epochs_ = 0;
  Duration last_queue_{0};
};

}  // namespace isthmus
