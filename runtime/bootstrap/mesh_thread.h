// MeshThread: the peer mesh at work: one thread that owns every control connection of the process.
//
// Life of a peer: wanted -> connected -> (gone: it said goodbye | dead). Of two processes the one with the smaller id
// makes the connections; the other one, when it hears nothing, probes: it dials to ask whether the process is there,
// which also tells that one to dial. A peer is dead when every address of it refuses a connection after its last one
// was lost or fell silent, or when it was silent for link_grace. "Nobody answers" is no refusal.
//
// mesh_thread.cc has what any thread calls, mesh_loop.cc what the mesh's thread does.
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
#include "runtime/bootstrap/flood_filter.h"
#include "runtime/bootstrap/mesh_message.h"
#include "runtime/bootstrap/pair_secret.h"
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
  Result<Key> link_secret(ProcessId peer) override;
  Result<Duration> measure_round_trip(ProcessId peer, int count, TimePoint deadline) override;
  void goodbye(TimePoint deadline) override;

 private:
  enum class PeerState { kWanted, kConnected, kGone, kDead };
  struct Peer {
    std::string name;
    std::vector<std::string> addresses;
    PeerState state = PeerState::kWanted;
    std::uint64_t connection = 0;         // 0: none
    std::vector<std::uint64_t> attempts;  // to make one, oldest first
    std::uint64_t greeting = 0;           // the attempt that has said hello last; 0: none
    TimePoint greeted_at = TimePoint::min();
    std::size_t next_address = 0;
    std::set<std::size_t> refused;   // addresses where it is not, since it was last heard
    std::set<std::size_t> hopeless;  // addresses where waiting does not help: another version, another secret
    TimePoint dial_at = TimePoint::min();
    TimePoint dialling_since = kNever;
    TimePoint asked_until = TimePoint::min();  // it probed: it hears nothing of us
    TimePoint heard_at = TimePoint::min();
    TimePoint silent_since = kNever;
    bool heard_our_goodbye = false, is_silent = false, is_suspect = false;
    Status last_error;
    PairSecret secret;
  };
  struct Connection {
    std::unique_ptr<ControlStream> stream;
    ProcessId peer = 0;       // 0: a stranger that has not greeted
    std::size_t address = 0;  // which of the peer's was dialled
    bool is_dialler = false, stands = false, said_hello = false, is_greeted = false, wants_write = false;
    TimePoint greet_by = kNever;
  };
  struct Listener {
    std::unique_ptr<ControlListener> socket;
    TimePoint accept_again = kNever;  // it is left alone until then
  };

  static constexpr std::uint64_t kWakeKey = 0;  // of the poller; connections and listeners count from 1
  static std::string joined(const std::vector<std::string>& addresses);

  // Any thread.
  void post(std::function<void()> fn);
  template <typename Done>
  bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline, Done done);

  // The mesh's thread: connections of any kind.
  void run();
  void handle_ready(std::uint64_t key);
  void accept_from(Listener& listener);
  void read_from(std::uint64_t key);
  void write_to(std::uint64_t key);
  void send_to(std::uint64_t key, const MeshMessage& message);
  void close_connection(std::uint64_t key, const Status& why);
  void refuse(std::uint64_t key, const std::string& why);
  void tick();
  TimePoint next_tick() const;

  // Greetings.
  void on_stream_message(std::uint64_t key, const MeshMessage& message);
  void on_hello(std::uint64_t key, const MeshMessage& message);
  void on_probe(std::uint64_t key, const MeshMessage& message);
  void on_welcome(std::uint64_t key, const MeshMessage& message);
  bool is_for_us(std::uint64_t key, const MeshMessage& message);
  void adopt(std::uint64_t key, ProcessId peer);

  // Peers.
  void on_peer_message(ProcessId from, const MeshMessage& message);
  void on_flood(ProcessId from, const MeshMessage& message);
  void flood(const MeshMessage& message, ProcessId except);
  void watch_peer(ProcessId process, Peer& peer, TimePoint time, bool beats);
  void note_silence(ProcessId process, Peer& peer, bool silent);
  bool should_dial(ProcessId process, const Peer& peer, TimePoint time) const;
  void dial(ProcessId process, Peer& peer, TimePoint time);
  void greet(ProcessId process, Peer& peer);
  void attempt_failed(ProcessId process, Peer& peer, std::size_t address, bool stood, const Status& why);
  void connection_lost(Peer& peer, const Status& why);
  void declare_dead(ProcessId process, const Status& why, bool tell_others);

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
  Status stranger_error_;                      // why a process that cannot be named was refused last
  // ----- the mesh's thread only
  Poller poller_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::unordered_map<std::uint64_t, Listener> listeners_;
  std::uint64_t next_key_ = 1;
  std::uint64_t next_flood_ = 1;
  FloodFilter flooded_;
  const Duration silent_after_;  // a heartbeat is missing
  TimePoint beat_at_ = TimePoint::min();
  bool is_leaving_ = false;
  std::thread thread_;
};

}  // namespace isthmus
