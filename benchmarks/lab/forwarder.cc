#include "benchmarks/lab/forwarder.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "benchmarks/lab/address_plan.h"

namespace isthmus::lab {
namespace {

constexpr int kReadBatch = 64;  // packets of one site before the others have their turn
constexpr int kMaxRounds = 32;  // under one lock, so that `ctl` has its turn even under overload
// While packets flow, the thread works in ticks: a system call to sleep per tick, not per packet.
constexpr Duration kTick = std::chrono::microseconds(100);
constexpr std::size_t kMinPoolBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxPoolBytes = std::size_t{1} << 30;

// Room for what the lines and their queues can hold, twice over, since small packets take whole slots too.
std::size_t pool_slot_count(const Topology& topology) {
  Duration longest{};
  for (const PairSpec& pair : topology.pairs) longest = std::max(longest, pair.delay + pair.jitter);
  const double hold_s = to_seconds(longest + 2 * topology.queue + std::chrono::milliseconds(20));
  double bytes = 0;
  for (const SiteSpec& site : topology.sites) {
    const bool unlimited = site.up_bits_per_sec == kUnlimitedRate;
    bytes += 2 * hold_s * (unlimited ? static_cast<double>(kMaxPoolBytes) : double(site.up_bits_per_sec) / 8);
  }
  bytes = std::clamp(bytes, double(kMinPoolBytes), double(kMaxPoolBytes));
  return static_cast<std::size_t>(bytes) / static_cast<std::size_t>(topology.mtu);
}

// A forwarder that waits behind the ranks for a core would lengthen every delay. Each step needs a privilege; without
// it the thread runs as any other.
void raise_priority() {
  ::prctl(PR_SET_TIMERSLACK, 1000UL);
  const sched_param parameters{.sched_priority = 1};
  if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0) return;
  ::setpriority(PRIO_PROCESS, 0, -15);
}

Status watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return unavailable("cannot watch a descriptor: {}", errno_message(errno));
}

}  // namespace

Result<std::unique_ptr<Forwarder>> Forwarder::create(const Topology& topology, std::vector<Fd> tuns, std::uint64_t seed,
                                                     bool reorder) {
  ISTHMUS_ASSIGN_OR_RETURN(auto pool,
                           PacketPool::create(static_cast<std::size_t>(topology.mtu), pool_slot_count(topology)));
  ISTHMUS_ASSIGN_OR_RETURN(WakeFd wake, WakeFd::create());
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return unavailable("cannot make an epoll descriptor: {}", errno_message(errno));
  ISTHMUS_RETURN_IF_ERROR(watch(epoll.get(), wake.get()));
  for (const Fd& tun : tuns) ISTHMUS_RETURN_IF_ERROR(watch(epoll.get(), tun.get()));
  return std::unique_ptr<Forwarder>(
      new Forwarder(topology, std::move(tuns), std::move(pool), seed, reorder, std::move(wake), std::move(epoll)));
}

Forwarder::Forwarder(const Topology& topology, std::vector<Fd> tuns, std::unique_ptr<PacketPool> pool,
                     std::uint64_t seed, bool reorder, WakeFd wake, Fd epoll)
    : tuns_(std::move(tuns)),
      pool_(std::move(pool)),
      wake_(std::move(wake)),
      epoll_(std::move(epoll)),
      wan_(topology, *pool_, seed, reorder),
      last_look_(topology.sites.size()) {}

Forwarder::~Forwarder() { stop(); }

Status Forwarder::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return unavailable("cannot start the forwarder's thread: {}", error.what());
  }
  return Status();
}

void Forwarder::stop() {
  stop_.store(true);
  wake_.signal();
  if (thread_.joinable()) thread_.join();
}

void Forwarder::with_wan(const std::function<void(Wan&, const ForwarderCounters&)>& use) {
  {
    const std::lock_guard lock(mutex_);
    use(wan_, counters_);
  }
  wake_.signal();
}

void Forwarder::run() {
  raise_priority();
  while (!stop_.load(std::memory_order_relaxed)) wait(carry());
}

bool Forwarder::carry() {
  const std::lock_guard lock(mutex_);
  bool worked = false;
  bool more = true;
  for (int round = 0; more && round < kMaxRounds; ++round) {
    more = false;
    for (int site = 0; site < static_cast<int>(tuns_.size()); ++site) {
      if (read_site(site)) more = true;
    }
    if (deliver_due()) worked = true;
    worked = worked || more;
  }
  return worked;
}

// Returns whether the device may hold more.
bool Forwarder::read_site(int site) {
  TimePoint& last_look = last_look_[static_cast<std::size_t>(site)];
  const TimePoint now = SteadyClock::instance().now();
  const int site_count = static_cast<int>(tuns_.size());
  for (int count = 0; count < kReadBatch; ++count) {
    const PacketId packet = pool_->take();
    std::array<std::byte, kMaxMtu> spare;
    std::byte* data = packet == kNoPacket ? spare.data() : pool_->data(packet);
    const std::size_t room = packet == kNoPacket ? spare.size() : pool_->slot_bytes();
    const ssize_t size = ::read(tuns_[static_cast<std::size_t>(site)].get(), data, room);
    if (size <= 0) {
      if (packet != kNoPacket) pool_->give_back(packet);
      last_look = now;
      return count > 0;
    }
    if (packet == kNoPacket) {
      ++counters_.pool_dropped;
      continue;
    }
    const int to = destination_site({data, static_cast<std::size_t>(size)}, site_count);
    if (to < 0 || to == site) {
      ++counters_.unroutable;
      pool_->give_back(packet);
      continue;
    }
    pool_->length_bytes(packet) = static_cast<std::uint32_t>(size);
    wan_.send(site, to, packet, now, last_look);
  }
  last_look = now;
  return true;
}

bool Forwarder::deliver_due() {
  const TimePoint now = SteadyClock::instance().now();
  const TimePoint due = wan_.next_event();
  if (due > now) return false;
  counters_.latest = std::max(counters_.latest, now - due);
  while (const std::optional<Delivery> delivery = wan_.next_delivery(now)) {
    const int fd = tuns_[static_cast<std::size_t>(delivery->site)].get();
    if (::write(fd, pool_->data(delivery->packet), pool_->length_bytes(delivery->packet)) < 0) ++counters_.refused;
    pool_->give_back(delivery->packet);
  }
  return true;
}

void Forwarder::wait(bool worked) {
  if (worked) {
    const timespec tick{.tv_sec = 0, .tv_nsec = kTick.count()};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &tick, nullptr);
    return;
  }
  TimePoint next;
  {
    const std::lock_guard lock(mutex_);
    next = wan_.next_event();
  }
  const Duration left = std::max(next - SteadyClock::instance().now(), Duration::zero());
  const timespec timeout{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  epoll_event event;
  if (::epoll_pwait2(epoll_.get(), &event, 1, next == kNever ? nullptr : &timeout, nullptr) == 1 &&
      event.data.fd == wake_.get()) {
    wake_.drain();
  }
}

}  // namespace isthmus::lab
