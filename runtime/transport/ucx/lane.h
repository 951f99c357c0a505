// UcxLane: one endpoint of UCX, which is one TCP connection, and the messages that are posted on it.
//
// Threads: the thread of the transport. Nothing here blocks; advance() does what has become possible since UCX was last
// progressed.
//
// UCX takes in whatever arrives, posted for or not. So a sender stops when its receiver has not consumed a window's
// worth of messages; a receiver tells what it consumed each time that a quarter of the window has gone by. That is
// what a lane may cost a receiver that posts nothing.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/ring_queue.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/hello.h"
#include "runtime/transport/ucx/request.h"
#include "runtime/transport/ucx/worker.h"

namespace isthmus {

// A posted message or buffer.
struct UcxOp {
  UcxRequest request;
  std::uint64_t token = 0;
  ConstBytes message;     // sends
  UcxOp* next = nullptr;  // among the free ones
};

// Operations are made in blocks and used again and again: in steady state a post allocates nothing.
class UcxOpPool {
 public:
  UcxOp* take();
  void give_back(UcxOp* op);

 private:
  static constexpr std::size_t kBlock = 64;
  std::vector<std::unique_ptr<UcxOp[]>> blocks_;
  UcxOp* free_ = nullptr;
};

class UcxLane {
 public:
  // Each direction takes this many operations before it is full.
  static constexpr std::size_t kMaxOps = 256;

  // `worker` may be null for a lane that fails before it has one.
  UcxLane(LaneId id, bool accepted, std::shared_ptr<UcxWorker> worker, UcxOpPool* ops, std::size_t window_bytes);
  UcxLane(const UcxLane&) = delete;  // UCX holds pointers to it
  UcxLane& operator=(const UcxLane&) = delete;

  // Makes the endpoint; `worker_address` is that of the peer's worker.
  Status open(const std::string& worker_address);
  // After open(): as the dialler, or as the acceptor who knows the dialler's tag; the acceptor's lane is up then.
  void say_hello(UcxHello hello);
  void say_welcome(std::uint64_t peer_tag);

  // Not before the lane is up, and not after end().
  PostResult send(ConstBytes message, std::uint64_t token);
  PostResult receive(MutableBytes buffer, std::uint64_t token);

  // Adds what happened to `events`. After the kLaneDown, which comes last, is_over().
  void advance(RingQueue<TransportEvent>* events);

  // Takes the lane down for `failure`, which posted operations get as well; the first one counts, but corruption wins.
  void fail(Status failure);
  // Takes the lane down: posted operations get `work`, the kLaneDown gets `reason`.
  void end(Status work, Status reason);

  LaneId id() const { return id_; }
  bool accepted() const { return accepted_; }
  bool is_up() const { return up_; }
  bool is_ending() const { return ending_ || !failure_.ok(); }
  bool is_over() const { return over_; }
  // Something is done that advance() has not seen, or will be without a wake-up.
  bool needs_progress() const;
  std::string describe() const;

  // UCX's own, -1 if it was not found: tuned, and kept for these and for the end.
  void adopt_socket(int socket, const TransportOptions& options);
  void limit_rate(double bytes_per_sec) const;
  std::uint64_t retransmissions() const;
  int socket() const { return socket_; }

  std::string local_address, remote_address;

 private:
  static constexpr std::size_t kControlReceives = 4;

  struct ControlReceive {
    UcxRequest request;
    std::array<std::byte, kControlBytes> bytes{};
  };

  static void on_failure(void* lane, ucp_ep_h endpoint, ucs_status_t status);

  void post_control_receives();
  void send_control(UcxControlKind kind, std::uint64_t value);
  void take_control(RingQueue<TransportEvent>* events);
  void take(const UcxControl& control, RingQueue<TransportEvent>* events);
  void return_done(RingQueue<UcxOp*>* ops, TransportEventKind kind, RingQueue<TransportEvent>* events);
  void note_failure(const UcxRequest& request, TransportEventKind kind);
  void post_waiting();
  void announce();
  bool has_window_for(std::size_t bytes) const;
  void give_up_half_received(RingQueue<TransportEvent>* events);
  bool all_returned() const;
  void shut_down_socket() const;
  Status lost(ucs_status_t status) const;

  const LaneId id_;
  const bool accepted_;
  const std::shared_ptr<UcxWorker> worker_;
  UcxOpPool* const ops_;
  const std::size_t window_bytes_;
  int socket_ = -1;          // UCX's own; -1: not found
  const std::uint64_t tag_;  // ours, without a kind: what the peer sends to
  std::uint64_t peer_tag_ = 0;

  ucp_ep_h endpoint_ = nullptr;
  bool up_ = false, ending_ = false, over_ = false;
  Status failure_;        // not ok: end() is due
  Status work_, reason_;  // once ending

  RingQueue<UcxOp*> sends_, receives_;  // in the order of their posts
  RingQueue<UcxOp*> waiting_;           // those of sends_ that UCX does not have yet
  std::uint64_t sent_ = 0, consumed_by_peer_ = 0;
  std::uint64_t consumed_ = 0, announced_ = 0;

  std::string hello_bytes_, control_bytes_;
  UcxRequest hello_, control_, close_;
  std::array<ControlReceive, kControlReceives> control_receives_;
  std::size_t next_control_ = 0;
};

}  // namespace isthmus
