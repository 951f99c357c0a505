// SimulatedWan: the lines of the sites and what lies between them, for messages between ranks of different sites.
//
// A link (ordered pair of ranks) has its messages in a queue and puts them on the way in segments. A site's line up
// serves its links in turn, one segment each, as flows that share a line fairly; a link may have no more under way than
// its window, one and a quarter times what fits on its way, as the pacer of a real link sees to. The line down serves
// segments in the order in which their first bytes arrive, and passes them on as they come in (nothing waits for a
// segment to be whole). So a segment takes: its turn, its time on the line up, the delay, a queue, and the line down
// where that is slower.
//
// Not simulated: packets, losses (a line loses the part `loss` of its rate), and the start of TCP: lines are warm.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/plan/network.h"
#include "collectives/simulate/event_queue.h"

namespace isthmus {

class SimulatedWan {
 public:
  enum EventKind : std::uint32_t { kLineFree, kFirstByte, kDelivered, kAcknowledged, kEventKinds };

  static constexpr std::uint32_t kNoMessage = 0xffff'ffffu;

  // `network` and `queue` outlive it.
  SimulatedWan(const Network* network, EventQueue* queue);

  // All links are added first. Returns the number of the link.
  std::uint32_t add_link(int from_site, int to_site);

  // A message, a number that the caller chooses, unique among those under way.
  void send(std::uint32_t link, std::uint32_t message, std::uint32_t bytes, SimulatedTime now);

  // Events of this class; `on_left(message)`: its last byte is on the line, `on_arrived(message)`: it is there.
  void handle(const Event& event, const std::function<void(std::uint32_t)>& on_left,
              const std::function<void(std::uint32_t)>& on_arrived);

  std::int64_t sent_bytes(int site) const { return lines_[static_cast<std::size_t>(site)].sent_bytes; }
  std::uint64_t messages() const { return messages_; }

 private:
  struct Message {
    std::uint32_t number = kNoMessage, bytes = 0, next = kNoMessage;
  };
  struct Link {
    std::uint32_t first = kNoMessage, last = kNoMessage;  // in message_pool_
    std::uint32_t taken_bytes = 0;                        // of the first message
    std::uint32_t window_bytes = 0, under_way_bytes = 0;
    std::uint16_t from = 0, to = 0;
    bool is_waiting = false;  // in its line's round
  };
  struct Segment {
    std::uint32_t link = 0, bytes = 0;
    std::uint32_t message = kNoMessage;  // that ends with it
    SimulatedTime last_byte_at = 0;      // at the line down
    std::uint32_t next_free = kNoMessage;
  };
  struct Line {
    double up_ns_per_byte = 0, down_ns_per_byte = 0;
    std::vector<std::uint32_t> round;  // a ring buffer of links
    std::size_t round_begin = 0;
    bool is_busy = false;
    std::uint32_t on_line = kNoMessage;  // the segment
    SimulatedTime down_free_at = 0;
    std::int64_t sent_bytes = 0;
  };

  void join_round(std::uint32_t link, SimulatedTime now);
  void serve(std::uint32_t site, SimulatedTime now);
  void on_line_free(std::uint32_t site, SimulatedTime now, const std::function<void(std::uint32_t)>& on_left);
  void on_first_byte(std::uint32_t segment, SimulatedTime now);
  std::uint32_t new_segment();
  std::uint32_t new_message();
  std::uint32_t take_segment(std::uint32_t link);

  const Network& network_;
  EventQueue& queue_;
  std::vector<Line> lines_;
  std::vector<Link> links_;
  std::vector<Message> message_pool_;
  std::vector<Segment> segment_pool_;
  std::uint32_t free_message_ = kNoMessage, free_segment_ = kNoMessage;
  std::vector<SimulatedTime> path_free_at_;  // by pair of sites; only where a path has a rate
  std::uint64_t messages_ = 0;
};

}  // namespace isthmus
