// LibfabricLane: one connection and the operations that libfabric has in hand for it.
//
// Threads: the thread of the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"
#include "runtime/transport/libfabric/fid.h"
#include "runtime/transport/transport.h"

namespace isthmus {

struct LibfabricLane;

// What libfabric gives back with a completion. It scribbles in `context` until then.
struct LibfabricOp {
  fi_context2 context;
  LibfabricLane* lane;
  LibfabricOp* previous;  // among the lane's open operations, in the order of their posts
  LibfabricOp* next;      // also: among the free ones
  std::uint64_t token;
  bool is_send;
};

// Operations are made in blocks and used again and again: in steady state a post allocates nothing.
class LibfabricOpPool {
 public:
  LibfabricOp* take();
  void give_back(LibfabricOp* op);

 private:
  static constexpr std::size_t kBlock = 64;
  std::vector<std::unique_ptr<LibfabricOp[]>> blocks_;
  LibfabricOp* free_ = nullptr;
};

struct LibfabricLane {
  // Adds to and removes from the open operations.
  void link(LibfabricOp* op);
  void unlink(LibfabricOp* op);

  // "lane 10.0.0.1:4001 -> 10.0.0.2:5001"
  std::string describe() const;

  LaneId id = 0;
  bool accepted = false;  // a peer opened it
  bool up = false;
  bool failing = false;  // to be taken down for `failure`
  Status failure;
  std::string greeting;  // of an accepted lane that is not up yet
  std::string local_address, remote_address;
  SocketAddress remote;
  int socket = -1;  // libfabric's own; -1: not found
  LibfabricOp* first = nullptr;
  LibfabricOp* last = nullptr;
  std::size_t open_sends = 0;
  std::size_t open_receives = 0;
  FidPtr<fid_ep> endpoint;
};

}  // namespace isthmus
