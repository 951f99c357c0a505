// The thread that carries packets between the TUN devices of the sites and the emulated WAN.
//
// Threads: with_wan(), from any thread; all else from the thread that made it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "benchmarks/lab/wan.h"
#include "runtime/base/fd.h"

namespace isthmus::lab {

// What the forwarder itself could not do. Packets that it drops for want of slots make the run's figures wrong.
struct ForwarderCounters {
  std::uint64_t pool_dropped = 0;  // no free slot
  std::uint64_t unroutable = 0;    // to no site (multicast of IPv6, say)
  std::uint64_t refused = 0;       // the receiving device did not take it
  Duration latest{};               // the longest that a packet was delivered after its time
};

class Forwarder {
 public:
  // `tuns`: non-blocking, one per site, in order.
  static Result<std::unique_ptr<Forwarder>> create(const Topology& topology, std::vector<Fd> tuns, std::uint64_t seed,
                                                   bool reorder);
  ~Forwarder();  // stops

  Status start();
  void stop();

  // Runs `use` while the thread stands still, then lets it look at the settings anew.
  void with_wan(const std::function<void(Wan&, const ForwarderCounters&)>& use);

 private:
  Forwarder(const Topology& topology, std::vector<Fd> tuns, std::unique_ptr<PacketPool> pool, std::uint64_t seed,
            bool reorder, WakeFd wake, Fd epoll);
  void run();
  bool carry();
  bool read_site(int site);
  bool deliver_due();
  void wait(bool worked);

  std::vector<Fd> tuns_;
  std::unique_ptr<PacketPool> pool_;
  WakeFd wake_;
  Fd epoll_;
  std::mutex mutex_;  // guards wan_, pool_ and counters_
  Wan wan_;
  ForwarderCounters counters_;
  std::vector<TimePoint> last_look_;  // per site: the last time at which its device was found empty or left
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace isthmus::lab
