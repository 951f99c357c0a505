// MeshThread: the peer mesh at work: one thread that owns every control connection of the process.
//
// Life of a peer: wanted -> connected -> (gone: it said goodbye | dead). A connection that ends without a goodbye is
// looked into: the process is dialled again at once, and it is dead when it refuses; if it answers, only the connection
// was lost and a new one takes its place.
//
// Threads: as peer_mesh.h says. All members below the mutex's line belong to the mesh's own thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/fd.h"
#include "runtime/base/fork_guard.h"
#include "runtime/bootstrap/mesh_message.h"
#include "runtime/bootstrap/peer_mesh.h"
#include "runtime/control/poller.h"

namespace isthmus {

class MeshThread final : public PeerMesh {
 public:
  MeshThread(const PeerMeshOptions& options, ControlNetwork* network, ProcessId self, PeerMeshHandler* handler);
  ~MeshThread() override;
  Status start();

  Result<std::string> listen(const std::string& host, const std::string& advertised_host, std::uint16_t port_low,
                             std::uint16_t port_high) override;
  Status connect(const std::vector<ProcessInfo>& peers, const std::vector<std::string>& names,
                 TimePoint deadline) override;
  void send(ProcessId to, std::string_view message) override;
  void broadcast(std::string_view message) override;
  Result<Duration> measure_round_trip(ProcessId peer, int count, TimePoint deadline) override;
  void goodbye(TimePoint deadline) override;

 private:
  enum class PeerState { kWanted, kConnected, kGone, kDead };
  struct Peer {
    std::string name;
    std::vector<std::string> addresses;
    PeerState state = PeerState::kWanted;
    std::uint64_t connection = 0;  // 0: none
    std::uint64_t dialling = 0;    // 0: no attempt runs
    std::size_t next_address = 0;
    TimePoint dial_at = TimePoint::min();
    bool was_connected = false;  // an attempt that fails now means death, not lateness
    bool heard_our_goodbye = false;
    TimePoint last_heard{}, lost_at = kNever;
    bool is_suspect = false;
    Status last_error;
  };
  struct Connection {
    std::unique_ptr<ControlStream> stream;
    ProcessId peer = 0;  // 0: a stranger that has not greeted
    bool is_dialler = false, stands = false, is_greeted = false, wants_write = false;
    TimePoint greet_by = kNever;
  };
  struct Listener {
    std::unique_ptr<ControlListener> socket;
  };

  // Any thread.
  void post(std::function<void()> fn);
  template <typename Done>
  bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline, Done done);

  // The mesh's thread.
  void run();
  void handle_ready(std::uint64_t key);
  void accept_from(Listener& listener);
  void read_from(std::uint64_t key);
  void write_to(std::uint64_t key);
  void on_stream_message(std::uint64_t key, const MeshMessage& message);
  void on_hello(std::uint64_t key, const MeshMessage& message);
  void on_welcome(std::uint64_t key);
  void on_peer_message(ProcessId from, const MeshMessage& message);
  void on_flood(ProcessId from, const MeshMessage& message);
  void refuse(std::uint64_t key, const std::string& why);
  void close_connection(std::uint64_t key, const Status& why);
  void adopt(std::uint64_t key, ProcessId peer);
  void connection_failed(ProcessId process, Peer& peer, const Status& why, bool was_standing);
  void dial(ProcessId process, Peer& peer);
  void declare_dead(ProcessId process, const Status& why, bool tell_others);
  void flood(const MeshMessage& message, ProcessId except);
  void send_to(std::uint64_t key, const MeshMessage& message);
  void tick();
  TimePoint next_tick() const;

  const PeerMeshOptions options_;
  ControlNetwork* const network_;
  const ProcessId self_;
  PeerMeshHandler* const handler_;
  const ForkGuard fork_guard_;
  WakeFd wake_;

  std::mutex mutex_;
  std::condition_variable changed_;  // a peer's state, or a pong
  std::vector<std::function<void()>> posted_;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, TimePoint> pongs_;  // by ping number: when it came
  std::uint64_t next_ping_ = 1;
  std::unordered_map<ProcessId, Peer> peers_;  // written by the mesh's thread, under the mutex
  // ----- the mesh's thread only
  Poller poller_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::unordered_map<std::uint64_t, Listener> listeners_;
  std::uint64_t next_key_ = 1;
  std::uint64_t next_flood_ = 1;
  std::set<std::pair<ProcessId, std::uint64_t>> flooded_;
  TimePoint beat_at_ = TimePoint::min();
  bool is_leaving_ = false;
  std::thread thread_;
};

}  // namespace isthmus
